// The demo shop as its shopper sees it.
import { type Page, expect } from '@playwright/test';
import type { Bank } from './bank.ts';
import { GOOD } from './cards.ts';
import { PayPage } from './pay_page.ts';

export interface Order {
  /** The shop's number of it. */
  id: string;
  /** The payment page, with its token. */
  url: string;
  checkoutId: string;
}

/** Buys something and arrives at the payment page. */
export async function buy(page: Page, good = 'bravo', quantity = 1): Promise<{ order: Order; pay: PayPage }> {
  await page.goto('/shop');
  const form = page.locator(`form[data-good=${good}]`);
  await form.locator('select[name=quantity]').selectOption(String(quantity));
  await form.locator('button[name=buy]').click();
  await page.waitForURL('**/pay/**');
  const pay = new PayPage(page);
  return { order: await orderOf(pay), pay };
}

interface Dark {
  /** So many answers of the bank are lost; without it, all for as long as a test looks. */
  times?: number;
  /** What the shopper makes of the address; it is left as it is without it. */
  email?: string;
}

/** Buys something, pays with a good card, and nothing is heard of it. */
export async function buyInTheDark(page: Page, bank: Bank, { times, email }: Dark = {}): Promise<{ order: Order; pay: PayPage }> {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await bank.fallsSilent(order.id, { times });
  if (email !== undefined) await pay.email.fill(email);
  await pay.pay(GOOD);
  await pay.expectState('confirming');
  return { order, pay };
}

/** The order that the payment page at hand is for. */
export async function orderOf(pay: PayPage): Promise<Order> {
  const url = pay.page.url();
  const id = /[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(await pay.root.locator('.order').innerText())?.[0];
  const checkoutId = /\/pay\/(co_[^/?]+)/.exec(url)?.[1];
  if (!id || !checkoutId) throw new Error(`no order on ${url}`);
  return { id, url, checkoutId };
}

export async function expectShopSays(page: Page, status: string): Promise<void> {
  await expect(page.locator(`[data-shop=order][data-status=${status}]`)).toBeVisible();
}
