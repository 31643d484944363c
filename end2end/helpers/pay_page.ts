// The payment page as its shopper sees it. Found by what the contract promises: autocomplete, name, role, data-state.
import { type Locator, type Page, expect } from '@playwright/test';
import type { Card } from './cards.ts';

export class PayPage {
  readonly root: Locator;
  readonly number: Locator;
  readonly expiry: Locator;
  readonly code: Locator;
  readonly email: Locator;
  readonly button: Locator;
  readonly live: Locator;

  constructor(readonly page: Page) {
    this.root = page.locator('[data-payonce]');
    this.number = this.root.locator('[autocomplete=cc-number]');
    this.expiry = this.root.locator('[autocomplete=cc-exp]');
    this.code = this.root.locator('[autocomplete=cc-csc]');
    this.email = this.root.locator('form[data-do=pay] [autocomplete=email]');
    this.button = this.root.locator('button[type=submit][name=pay]');
    this.live = this.root.locator('[role=status]');
  }

  async open(url: string): Promise<this> {
    await this.page.goto(url);
    return this.hydrated();
  }

  async hydrated(): Promise<this> {
    await expect(this.root).toHaveAttribute('data-hydrated', 'true');
    await expect(this.root).toHaveAttribute('data-wasm', 'ready');
    return this;
  }

  async fill(card: Card): Promise<void> {
    await this.number.fill(card.number);
    await this.expiry.fill(card.expiry ?? '12 / 34');
    await this.code.fill(card.code ?? '123');
  }

  async pay(card: Card): Promise<void> {
    await this.fill(card);
    await this.button.click();
  }

  /** From a payment that took nothing to the form of the next one. */
  async tryAgain(): Promise<void> {
    await this.page.getByRole('button', { name: 'Попробовать ещё раз' }).click();
    await this.expectState('ready');
    await this.hydrated();
  }

  /** Waits for the state, and that the page shows what belongs to it. */
  async expectState(state: string): Promise<void> {
    await expect(this.page.locator(`[data-payonce][data-state=${state}]`)).toBeVisible();
    const screen = ['ready', 'invalid', 'submitting'].includes(state) ? 'form' : state;
    await expect(this.screens).toHaveCount(1);
    await expect(this.screens).toHaveAttribute('data-screen', screen);
  }

  /** The screens that can be seen: one at any time. */
  get screens(): Locator {
    return this.root.locator('[data-screen]:not([hidden])');
  }

  /** While a result is unknown nothing may invite to pay again (N2). */
  async expectNoInvitation(): Promise<void> {
    await expect(this.button).toBeHidden();
    await expect(this.page.getByRole('button', { name: /Оплатить|Попробовать/ })).toHaveCount(0);
    await expect(this.screens).toContainText('Платить ещё раз не нужно');
  }

  /** A line above the screen. The live region says the same, out of sight. */
  note(text: string): Locator {
    return this.root.locator('.note').filter({ hasText: text, visible: true });
  }

  async shownSum(): Promise<string> {
    return plain(await this.root.locator('.order .sum').innerText());
  }
}

/** With ordinary spaces. */
export function plain(text: string): string {
  return text.replace(/[\u00a0\u202f]/g, ' ').trim();
}
