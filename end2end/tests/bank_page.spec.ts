// The shopper has to act at the bank: 3-D Secure, and the bank's own page. One payment, whoever leaves, comes back or goes on elsewhere.
import type { Page } from '@playwright/test';
import { ASKS_3DS, GOOD, last4 } from '../helpers/cards.ts';
import { Gate, NEWS, SUBMIT } from '../helpers/gate.ts';
import { PayPage } from '../helpers/pay_page.ts';
import { type Order, buy, expectShopSays } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

test("3-D Secure: the link leads to the bank's page, and after confirming there everything says paid", async ({ page, context, bank, merchant }) => {
  const { order, pay } = await buyWith3ds(page);
  await expect(pay.button).toBeHidden();
  await expect(pay.screens).toContainText('Подтвердите оплату в банке');
  expect(await bank.charges(order.id)).toEqual([]);

  const watching = await new PayPage(await context.newPage()).open(order.url);
  await watching.expectState('requires_action');

  await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
  await page.waitForURL(`${bank.url}/confirm/**`);
  await expect(page.locator('.sum')).toHaveText(/^1\s500,00\s₽$/);
  await page.getByRole('button', { name: 'Подтвердить' }).click();
  await page.waitForURL('**/pay/*/status?**');
  // Looked at as it came, not as it is after it has looked again.
  expect(await page.locator('[data-payonce]').getAttribute('data-state')).toBe('succeeded');
  await expect(page.locator('[data-screen=succeeded]')).toContainText('Оплачено');
  await watching.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(ASKS_3DS));
  expect((await merchant.checkout(order.checkoutId)).status).toBe('paid');
});

test('N2: at the bank too "check now" shows that the bank was asked', async ({ page }) => {
  const { pay } = await buyWith3ds(page);
  const looked = pay.screens.locator('[data-look=last] time');
  await expect(looked).toBeVisible();
  const before = await looked.getAttribute('datetime');
  await pay.screens.getByRole('button', { name: 'Проверить сейчас' }).click();
  await expect(looked).not.toHaveAttribute('datetime', before!);
  await pay.expectState('requires_action');
});

test('3-D Secure refused: declined, and another card pays with one charge', async ({ page, bank }) => {
  const { order, pay } = await buyWith3ds(page);
  await decideAtBank(page, 'Отказаться');
  await expect(page.locator('[data-payonce]')).toHaveAttribute('data-state', /declined|canceled/);
  expect(await bank.charges(order.id)).toEqual([]);
  await pay.tryAgain();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test("fault 64: leaving the bank's page without deciding leads back to the same payment", async ({ page, bank }) => {
  const { order, pay } = await buyWith3ds(page);
  const link = page.getByRole('link', { name: 'Перейти на страницу банка' });
  const bankUrl = await link.getAttribute('href');
  await link.click();
  await page.getByRole('button', { name: 'Уйти, ничего не решив' }).click();
  await page.waitForURL('**/pay/*/status?**');
  await expect(page.locator('[data-payonce][data-state=requires_action]')).toBeVisible();
  await page.goto(order.url);
  await pay.hydrated();
  await pay.expectState('requires_action');
  await expect(pay.button).toBeHidden();
  await expect(link).toHaveAttribute('href', bankUrl!);
  expect(await bank.payments(order.id)).toHaveLength(1);
  expect(await bank.charges(order.id)).toEqual([]);
});

// adyen-magento2#94: Back after 3-D Secure cancelled a paid order.
test('3-D Secure, Back from the bank\'s page: the same payment, no second one (fault 12, R9)', async ({ page, bank, merchant }) => {
  const { order, pay } = await buyWith3ds(page);
  await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
  await page.waitForURL(`${bank.url}/confirm/**`);
  await page.goBack();
  await pay.expectState('requires_action');
  await pay.hydrated();
  await expect(pay.button).toBeHidden();
  await decideAtBank(page, 'Подтвердить');
  // Back once more, after the money was taken: nothing is offered, nothing is cancelled.
  await page.goBack();
  await page.goBack();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(ASKS_3DS));
  expect((await merchant.checkout(order.checkoutId)).status).toBe('paid');
});

test('3-D Secure is gone on with on another device: the same link, and both show the result (R9, N1)', async ({ page, bank, newDevice }) => {
  const { order, pay } = await buyWith3ds(page);
  const link = { name: 'Перейти на страницу банка' };
  const bankUrl = await page.getByRole('link', link).getAttribute('href');

  const device = await new PayPage(await (await newDevice()).newPage()).open(order.url);
  await device.expectState('requires_action');
  await expect(device.button).toBeHidden();
  await expect(device.page.getByRole('link', link)).toHaveAttribute('href', bankUrl!);
  await decideAtBank(device.page, 'Подтвердить');
  await expect(device.page.locator('[data-payonce]')).toHaveAttribute('data-state', 'succeeded');
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(ASKS_3DS));
});

// woocommerce-payments#5678.
test('3-D Secure confirmed in two tabs is one payment, and both tabs say so (N1)', async ({ page, context, bank }) => {
  const { order, pay } = await buyWith3ds(page);
  const second = await new PayPage(await context.newPage()).open(order.url);
  await second.expectState('requires_action');
  for (const tab of [pay, second]) {
    await tab.page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
    await tab.page.waitForURL(`${bank.url}/confirm/**`);
  }
  await page.getByRole('button', { name: 'Подтвердить' }).click();
  await page.waitForURL('**/pay/*/status?**');
  await second.page.getByRole('button', { name: 'Подтвердить' }).click();
  for (const tab of [pay, second]) {
    await tab.page.goto(order.url);
    await tab.expectState('succeeded');
  }
  expect(await bank.payments(order.id)).toHaveLength(1);
  await bank.expectOneCharge(order.id, '1500.00', last4(ASKS_3DS));
});

test('paying another way while the bank waits: when it lets go is said, and no second payment begins', async ({ page, bank }) => {
  const { order, pay } = await buyWith3ds(page);
  await page.getByRole('button', { name: 'Заплатить по-другому' }).click();
  await expect(pay.note('банк отпустит этот не позже')).toContainText(/не позже (.+ )?\d\d:\d\d,/);
  await expect(pay.button).toBeHidden();
  await expect(page.getByRole('link', { name: 'Перейти на страницу банка' })).toBeVisible();
  expect(await bank.payments(order.id)).toHaveLength(1);

  // Refused at the bank, it is free: then, and not before.
  await decideAtBank(page, 'Отказаться');
  await expect(page.locator('[data-payonce]')).toHaveAttribute('data-state', /declined|canceled/);
  await pay.tryAgain();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test("the bank's own page is the second button where scripts run, and pays without a card here", async ({ page, context, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const other = await new PayPage(await context.newPage()).open(order.url);
  await pay.email.fill('anna@example.com');
  await page.getByRole('button', { name: 'Заплатить на странице банка' }).click();
  await page.waitForURL('**/pay/*/status?**');
  await expect(page.locator('[data-payonce][data-state=requires_action]')).toBeVisible();
  await other.expectState('requires_action');
  await expect(other.note('Этот платёж начат в другой вкладке')).toBeVisible();
  await decideAtBank(page, 'Подтвердить');
  await expect(page.locator('[data-payonce][data-state=succeeded]')).toBeVisible();
  await other.expectState('succeeded');
  await expect(other.note('Этот платёж начат в другой вкладке')).toHaveCount(0);
  await bank.expectOneCharge(order.id, '1500.00');
  await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
  await expectShopSays(page, 'paid');
});

test('the page to read looks again and takes nothing away: not the place of the keyboard, and no reload (N2)', async ({ page, context, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await page.getByRole('button', { name: 'Заплатить на странице банка' }).click();
  await page.waitForURL('**/pay/*/status?**');
  await page.evaluate(() => Object.assign(window, { opened: 'once' }));
  const link = page.getByRole('link', { name: 'Перейти на страницу банка' });
  await link.focus();
  const looked = page.locator('[data-screen=requires_action] [data-look=last] time');
  const before = await looked.getAttribute('datetime');
  await expect(looked).not.toHaveAttribute('datetime', before ?? '');
  await expect(link).toBeFocused();

  const other = await context.newPage();
  await other.goto((await link.getAttribute('href'))!);
  await other.getByRole('button', { name: 'Подтвердить' }).click();
  await expect(page.locator('[data-payonce][data-state=succeeded]')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Оплачено' })).toBeFocused();
  await expect(page).toHaveTitle(/^Оплачено — /);
  expect(await page.evaluate(() => 'opened' in window)).toBe(true);
  await bank.expectOneCharge(order.id, '1500.00');
});

test("N1, fault 67: a card in one tab and the bank's page in another are one payment, and the card's tab says where it goes on", async ({ page, context, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const other = await new PayPage(await context.newPage()).open(order.url);
  const submits = await Gate.on(page, SUBMIT);
  await pay.pay(GOOD);
  await submits.hasHeld(1);
  await other.page.getByRole('button', { name: 'Заплатить на странице банка' }).click();
  await other.page.waitForURL('**/pay/*/status?**');
  await expect(other.page.locator('[data-payonce][data-state=requires_action]')).toBeVisible();
  await submits.open();
  await pay.expectState('requires_action');
  await expect(pay.note('Этот платёж идёт на странице банка, где его начали раньше')).toBeVisible();
  await other.page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
  await other.page.getByRole('button', { name: 'Подтвердить' }).click();
  await pay.expectState('succeeded');
  expect(await bank.payments(order.id)).toHaveLength(1);
  await bank.expectOneCharge(order.id, '1500.00');
});

test("N1, fault 67: the bank's page in one tab while a card of another pays: it says so, and there is no second payment", async ({ page, context, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const other = await new PayPage(await context.newPage()).open(order.url);
  // The other tab hears nothing, so its form stays.
  const news = await Gate.on(other.page, NEWS);
  await bank.fallsSilent(order.id);
  await pay.pay(GOOD);
  await pay.expectState('confirming');
  await other.page.getByRole('button', { name: 'Заплатить на странице банка' }).click();
  await expect(other.page.locator('[data-payonce][data-state=confirming]')).toBeVisible();
  await expect(other.note('Этот платёж идёт по карте, которую ввели раньше')).toBeVisible();
  await news.open();
  expect(await bank.payments(order.id)).toHaveLength(1);
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

/** Buys something and pays with a card that the bank asks to confirm. */
async function buyWith3ds(page: Page): Promise<{ order: Order; pay: PayPage }> {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(ASKS_3DS);
  await pay.expectState('requires_action');
  return { order, pay };
}

/** Follows the link to the bank's page, decides there, and is led back to the status page. */
async function decideAtBank(page: Page, decision: 'Подтвердить' | 'Отказаться'): Promise<void> {
  await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
  await page.getByRole('button', { name: decision }).click();
  await page.waitForURL('**/pay/*/status?**');
}
