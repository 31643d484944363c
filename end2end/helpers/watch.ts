// Nothing may go wrong unnoticed: console errors, uncaught errors and policy violations of every page fail the test
// that did not expect them.
import { type BrowserContext, type Page, expect } from '@playwright/test';

export class Watch {
  private readonly seen: string[] = [];
  private readonly expected: RegExp[] = [];

  async observe(context: BrowserContext): Promise<void> {
    context.on('page', (page) => this.listen(page));
    context.pages().forEach((page) => this.listen(page));
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy violated: ${event.effectiveDirective} by ${event.blockedURI}`);
      });
    });
  }

  /** This test causes such a message on purpose. */
  expects(message: RegExp): void {
    this.expected.push(message);
  }

  private listen(page: Page): void {
    page.on('console', (message) => {
      if (message.type() === 'error') this.seen.push(`${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => this.seen.push(`uncaught: ${error.stack ?? error.message}`));
    page.on('crash', () => this.seen.push('the page crashed'));
  }

  expectQuiet(): void {
    const surprises = this.seen.filter((text) => !this.expected.some((pattern) => pattern.test(text)));
    expect(surprises, 'errors in the browser').toEqual([]);
  }
}
