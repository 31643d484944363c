// A gate on the road between page and server: requests wait at it until a test lets them go.
import type { BrowserContext, Page, Request, Route } from '@playwright/test';

export const SUBMIT = '**/v1/payment_intents/*/submit';
export const EVENTS = /\/v1\/payment_intents\/[^/?]+\/events\?/;
/** Every road by which a page learns of a payment: questions and the stream. */
export const NEWS = /\/v1\/payment_intents\/[^/?]+(\/events\?.*)?$/;
export const TOKENS = '**/v3/tokens';
export const WASM = /\/pkg\/[^/]+\.wasm(\?|$)/;
export const GLUE = /\/pkg\/[^/]+\.js(\?|$)/;

export class Gate {
  private readonly waiting: Route[] = [];
  private readonly arrivals: { count: number; tell: () => void }[] = [];
  private isOpen = false;

  static async on(where: Page | BrowserContext, what: string | RegExp): Promise<Gate> {
    const gate = new Gate();
    await where.route(what, (route) => gate.arrive(route));
    return gate;
  }

  private async arrive(route: Route): Promise<void> {
    if (this.isOpen) return route.continue();
    this.waiting.push(route);
    this.arrivals.filter(({ count }) => this.waiting.length >= count).forEach(({ tell }) => tell());
  }

  /** Until so many requests wait here. */
  async hasHeld(count: number): Promise<Request[]> {
    if (this.waiting.length < count) {
      await new Promise<void>((tell) => this.arrivals.push({ count, tell }));
    }
    return this.waiting.map((route) => route.request());
  }

  /** Lets all that wait go on, at once, and whoever comes later. */
  async open(): Promise<void> {
    this.isOpen = true;
    // A request whose page went away meanwhile needs no road.
    await Promise.allSettled(this.waiting.splice(0).map((route) => route.continue()));
  }
}

/** The server gets the request and does its work; the answer is lost on the way back. */
export async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.abort('connectionreset');
}

/** What the server says of a payment that it keeps back after a silence of its own. */
export async function heldBack(page: Page): Promise<void> {
  await page.route(NEWS, async (route) => {
    if (EVENTS.test(route.request().url())) return route.abort();
    const answer = await route.fetch();
    const intent = await answer.json();
    const { unreached_until: _, next_look_at: __, ...progress } = intent.progress ?? {};
    await route.fulfill({ json: { ...intent, ...(intent.progress && { progress: { ...progress, steps: [], held: true } }) } });
  });
}
