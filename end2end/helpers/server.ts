// One `payonce demo` of our own: free ports, a data folder that goes away with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const START_MS = 30_000;
const STOP_MS = 10_000;
const LOOK_EVERY_MS = 50;
const REPOSITORY = resolve(import.meta.dirname, '../..');

export class Payonce {
  private process!: ChildProcess;

  private constructor(
    readonly url: string,
    readonly bankUrl: string,
    private readonly folder: string,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly log: string[] = [],
  ) {}

  /** Returns when it is ready to be paid with. `timing`: lines of that section, for tests that do not wait as long as people do. */
  static async start(timing?: string): Promise<Payonce> {
    const [port, bankPort] = await freePorts(2);
    const folder = await mkdtemp(join(tmpdir(), 'payonce-end2end-'));
    const environment: NodeJS.ProcessEnv = {
      PATH: process.env.PATH,
      PAYONCE_LISTEN: `127.0.0.1:${port}`,
      PAYONCE_BANK_LISTEN: `127.0.0.1:${bankPort}`,
      PAYONCE_DATA: folder,
      PAYONCE_RATE_LIMIT: 'off',
    };
    if (timing) {
      environment.PAYONCE_CONFIG = join(folder, 'payonce.toml');
      await writeFile(environment.PAYONCE_CONFIG, `[timing]\n${timing}\n`);
    }
    const server = new Payonce(`http://127.0.0.1:${port}`, `http://127.0.0.1:${bankPort}`, folder, environment);
    await server.run();
    return server;
  }

  /** The same folder and the same addresses, after it was killed as well. */
  async run(): Promise<void> {
    this.process = spawn(binary(), ['demo'], { cwd: this.folder, env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.process.stdout!, this.process.stderr!]) stream.on('data', (text) => this.log.push(String(text)));
    await this.becomeReady();
  }

  private async becomeReady(): Promise<void> {
    const latest = Date.now() + START_MS;
    while (Date.now() < latest) {
      if (this.hasEnded) break;
      const answer = await fetch(`${this.url}/readyz`).catch(() => undefined);
      if (answer?.ok) return;
      await pause(LOOK_EVERY_MS);
    }
    await this.stop();
    throw new Error(`payonce demo did not become ready:\n${this.log.join('')}`);
  }

  private get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Without a warning: nothing of it runs any more, the bank that lives with it included. Both keep what is on disk. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    if (!this.hasEnded) {
      const ended = new Promise((resolve) => this.process.once('exit', resolve));
      this.process.kill('SIGTERM');
      const late = setTimeout(() => this.process.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(late);
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  /** All that it has written: the log, and every file with its bytes as Latin-1. */
  async everythingWritten(): Promise<{ name: string; text: string }[]> {
    const files = await readdir(this.folder, { recursive: true, withFileTypes: true });
    const written = files.filter((file) => file.isFile()).map(async (file) => {
      const text = await readFile(join(file.parentPath, file.name), 'latin1');
      return { name: file.name, text };
    });
    return [{ name: 'log', text: this.log.join('') }, ...(await Promise.all(written))];
  }
}

function binary(): string {
  const given = process.env.PAYONCE_BIN;
  if (given) return resolve(given);
  const built = ['release', 'debug'].map((profile) => join(REPOSITORY, 'target', profile, 'payonce'));
  const found = built.find((path) => existsSync(path));
  if (!found) throw new Error('no payonce to test: run script/setup, or set PAYONCE_BIN');
  return found;
}

/** All held at once, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const holders = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(holders.map((holder) => new Promise<number>((resolve, reject) => {
    holder.once('error', reject);
    holder.listen(0, '127.0.0.1', () => {
      const address = holder.address();
      if (address && typeof address === 'object') resolve(address.port);
    });
  })));
  await Promise.all(holders.map((holder) => new Promise((resolve) => holder.close(resolve))));
  return ports;
}
