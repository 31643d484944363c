// The bank does something and we cannot know what: confirming, no invitation to pay, and the truth by itself (R10, N2).
import { ASKS_3DS, GOOD, last4 } from '../helpers/cards.ts';
import { INTENT, Gate } from '../helpers/gate.ts';
import { PayPage } from '../helpers/pay_page.ts';
import { buy, expectShopSays } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

for (const [name, kind] of [
  ['fault 37: the bank never gets the request', 'lose_request'],
  ["fault 38: the bank's answer is lost after the charge", 'lose_answer'],
  ['fault 41: a 500 after the charge', 'error_500_after'],
  ['a 500 before the charge', 'error_500_before'],
  ['fault 47: half an answer', 'garbage'],
] as const) {
  test(`${name}: being confirmed, then paid by itself with one charge (R10, N2)`, async ({ page, bank }) => {
    const { order, pay } = await buy(page);
    await pay.hydrated();
    await bank.breaks({ kind, order_id: order.id });
    const questions = await Gate.on(page, INTENT);
    await pay.pay(GOOD);
    await pay.expectState('confirming');
    await pay.expectNoInvitation();
    await expect(pay.screens).toContainText('Уточняем результат оплаты');
    await expect(pay.screens).toContainText(await pay.root.getAttribute('data-intent') ?? 'no intent');
    await expect(pay.screens.getByRole('heading')).toBeFocused();
    await expect(pay.live).toContainText('Уточняем результат оплаты');
    await expect(pay.screens.getByText(/Спросим снова через \d+\sс/)).toBeVisible();
    await questions.open();
    await pay.expectState('succeeded');
    await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
    await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
    await expectShopSays(page, 'paid');
  });
}

test('while the result is unknown the shop, the link and a reload all say so, and the link shows it later (N2)', async ({ page, bank, newDevice }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  // Lost over and over: unknown for as long as this test looks.
  await bank.breaks({ kind: 'lose_answer', order_id: order.id, times: 100 });
  await bank.breaks({ kind: 'not_found', order_id: order.id, on: 'get', times: 100 });
  await pay.pay(GOOD);
  await pay.expectState('confirming');
  await page.reload();
  await pay.expectState('confirming');
  await pay.expectNoInvitation();

  const elsewhere = await (await newDevice()).newPage();
  await elsewhere.goto(`/shop/orders/${order.id}`);
  await expectShopSays(elsewhere, 'settling');
  await expect(elsewhere.getByRole('link', { name: 'Оплатить' })).toHaveCount(0);
  await elsewhere.getByRole('link', { name: 'Ход оплаты' }).click();
  const watching = new PayPage(elsewhere);
  await watching.expectState('confirming');
  await watching.expectNoInvitation();
  await elsewhere.goto(order.url.replace('?', '/status?'));
  await expect(elsewhere.locator('[data-payonce][data-state=confirming]')).toBeVisible();
  await bank.expectOneCharge(order.id, '1500.00');
});

test('check now asks at once', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await bank.breaks({ kind: 'lose_answer', order_id: order.id });
  const questions = await Gate.on(page, INTENT);
  await pay.pay(GOOD);
  await pay.expectState('confirming');
  await questions.open();
  await pay.screens.getByRole('link', { name: 'Проверить сейчас' }).click();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('a slow bank: processing, for whoever opens the link meanwhile, then paid (fault 34)', async ({ page, bank, newDevice }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await bank.breaks({ kind: 'delay', order_id: order.id, delay_ms: 2500 });
  await pay.pay(GOOD);
  await bank.expectFaultsMet(order.id);
  const device = await (await newDevice()).newPage();
  await device.goto(order.url);
  const other = new PayPage(device);
  await other.expectState('processing');
  await other.expectNoInvitation();
  await Promise.all([pay.expectState('succeeded'), other.expectState('succeeded')]);
  await bank.expectOneCharge(order.id, '1500.00');
});

test("3-D Secure: the link leads to the bank's page, and after confirming there everything says paid", async ({ page, context, bank, merchant }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(ASKS_3DS);
  await pay.expectState('requires_action');
  await expect(pay.button).toBeHidden();
  await expect(pay.screens).toContainText('Подтвердите оплату в банке');
  expect(await bank.charges(order.id)).toEqual([]);

  const watching = await new PayPage(await context.newPage()).open(order.url);
  await watching.expectState('requires_action');

  await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
  await page.waitForURL(`${bank.url}/confirm/**`);
  await expect(page.locator('.sum')).toContainText('1500.00');
  await page.getByRole('button', { name: 'Подтвердить' }).click();
  await page.waitForURL('**/pay/*/status?**');
  await expect(page.locator('[data-payonce][data-state=succeeded]')).toBeVisible();
  await expect(page.locator('[data-screen=succeeded]')).toContainText('Оплачено');
  await watching.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(ASKS_3DS));
  expect((await merchant.checkout(order.checkoutId)).status).toBe('paid');
});

test('3-D Secure refused: declined, and another card pays with one charge', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(ASKS_3DS);
  await pay.expectState('requires_action');
  await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
  await page.getByRole('button', { name: 'Отказаться' }).click();
  await page.waitForURL('**/pay/*/status?**');
  await expect(page.locator('[data-payonce]')).toHaveAttribute('data-state', /declined|canceled/);
  expect(await bank.charges(order.id)).toEqual([]);
  await page.getByRole('button', { name: 'Попробовать ещё раз' }).click();
  await pay.expectState('ready');
  await pay.hydrated();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test("fault 64: leaving the bank's page without deciding leads back to the same payment", async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(ASKS_3DS);
  await pay.expectState('requires_action');
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
