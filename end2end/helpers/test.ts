// What every browser test has: a server to itself and its worker, the bank, the merchant, and a watch on all pages.
import { type BrowserContext, type BrowserContextOptions, test as base } from '@playwright/test';
import { Bank } from './bank.ts';
import { Merchant } from './merchant.ts';
import { Payonce } from './server.ts';
import { Watch } from './watch.ts';

interface Each {
  watch: Watch;
  /** Another browser with nothing of this one's: another device, or the same one after everything was cleared. */
  newDevice: (options?: BrowserContextOptions) => Promise<BrowserContext>;
}

interface PerWorker {
  payonce: Payonce;
  bank: Bank;
  merchant: Merchant;
}

export const test = base.extend<Each, PerWorker>({
  payonce: [async ({}, use) => {
    const server = await Payonce.start();
    await use(server);
    await server.stop();
  }, { scope: 'worker' }],
  bank: [async ({ payonce }, use) => use(new Bank(payonce.bankUrl)), { scope: 'worker' }],
  merchant: [async ({ payonce }, use) => use(new Merchant(payonce.url)), { scope: 'worker' }],
  baseURL: async ({ payonce }, use) => use(payonce.url),
  watch: [async ({ context }, use) => {
    const watch = new Watch();
    await watch.observe(context);
    await use(watch);
    watch.expectQuiet();
  }, { auto: true }],
  newDevice: async ({ browser, watch }, use) => {
    const opened: BrowserContext[] = [];
    await use(async (options = {}) => {
      const context = await browser.newContext(options);
      opened.push(context);
      await watch.observe(context);
      return context;
    });
    await Promise.all(opened.map((context) => context.close()));
  },
});

export { expect } from '@playwright/test';
