// The drawer "what could go wrong": a fault is chosen, the order is paid, and five numbers tell what came of it.
import { type Page } from '@playwright/test';
import { GOOD } from '../helpers/cards.ts';
import { inspect } from '../helpers/screens.ts';
import { PayPage } from '../helpers/pay_page.ts';
import { buy, expectShopSays, orderOf } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

const FIGURES = ['attempts', 'operations', 'charges', 'mails', 'shipments'];

async function expectFigures(page: Page, ...expected: string[]): Promise<void> {
  for (const [place, name] of FIGURES.entries()) {
    await expect(page.locator(`[data-drill=${name}]`), name).toHaveText(expected[place]);
  }
}

test('the drill: two answers are lost after the charge, and the numbers read 3, 1, 1, 1, 1 (R20, R25)', async ({ page, context, bank }) => {
  await page.goto('/shop');
  const drawer = page.locator('[data-shop=drawer]');
  await drawer.locator('summary').click();
  await drawer.locator('input[value=fault-answer-lost-twice]').check();
  await inspect(page, 'shop-drawer');
  await drawer.getByRole('button', { name: 'Пусть случится' }).click();
  await expect(page.locator('[data-fault=fault-answer-lost-twice]')).toBeVisible();
  await page.locator('form[data-good=bravo] button[name=buy]').click();
  await page.waitForURL('**/pay/**');
  const pay = await new PayPage(page).hydrated();
  const order = await orderOf(pay);

  // Seen from another tab, which nobody touches.
  const watching = await context.newPage();
  await watching.goto(`/shop/orders/${order.id}`);
  await expectShopSays(watching, 'waiting');
  await expectFigures(watching, '0', '0', '0', '0', '0');
  await expect(watching.locator('[data-armed=lose_answer]')).toContainText('2');

  await pay.email.fill('anna@example.com');
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await expectFigures(watching, '3', '1', '1', '1', '1');
  await expect(watching.locator('[data-shipped=true]')).toBeVisible();
  await expectShopSays(watching, 'paid');
  await expect(watching.locator('[data-armed]')).toHaveCount(0);
  await bank.expectOneCharge(order.id, '1500.00');

  await watching.getByRole('link', { name: 'Почта' }).click();
  await inspect(watching, 'shop-mailbox');
  await watching.locator('[data-mail] a').first().click();
  await expect(watching.locator('[data-shop=mail]')).toContainText(order.id);
  await inspect(watching, 'shop-mail');
});

test('without scripts a fault is set by a form, and the numbers are a link away', async ({ page, bank, newDevice }) => {
  const { order } = await buy(page);
  const plain = await (await newDevice({ javaScriptEnabled: false })).newPage();
  await plain.goto(`/shop/orders/${order.id}`);
  await plain.locator('summary').click();
  await plain.locator('input[value=fault-answer-lost]').check();
  await plain.getByRole('button', { name: 'Пусть случится' }).click();
  await plain.waitForURL(`**/shop/orders/${order.id}`);
  await expect(plain.locator('[data-armed=lose_answer]')).toHaveCount(1);

  const pay = await new PayPage(page).hydrated();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
  await plain.getByRole('link', { name: 'Обновить' }).click();
  await expectShopSays(plain, 'paid');
  await expect(plain.locator('[data-drill=charges]')).toHaveText('1');
  await expect(plain.locator('[data-drill=operations]')).toHaveText('1');
  await expect(plain.locator('[data-armed]')).toHaveCount(0);
});

test('nothing ships because a page is opened', async ({ page }) => {
  const { order } = await buy(page);
  await page.goto(`/shop/orders/${order.id}`);
  await page.reload();
  await expect(page.locator('[data-shipped=false]')).toContainText('ждём подтверждения оплаты');
  await expectFigures(page, '0', '0', '0', '0', '0');
});
