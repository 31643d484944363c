// From the shelf to the receipt: what shoppers come for.
import { DECLINED, EXPIRED, GOOD, MIR, NO_FUNDS, OTHER_GOOD, last4 } from '../helpers/cards.ts';
import { PayPage, plain } from '../helpers/pay_page.ts';
import { buy, expectShopSays, orderOf } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

const SCREENS = {
  'a phone': { width: 390, height: 844 },
  'a desktop': { width: 1280, height: 900 },
};

for (const [device, viewport] of Object.entries(SCREENS)) {
  test.describe(`on ${device}`, () => {
    test.use({ viewport });

    test('an order is paid once and the shop knows it (R1, R2, R12, R25)', async ({ page, bank }) => {
      const { order, pay } = await buy(page, 'bravo', 2);
      await pay.hydrated();
      expect(await pay.shownSum()).toBe('3 000,00 ₽');
      await expect(pay.root.locator('h1')).toHaveText('Кофемолка Bravo × 2');
      expect(plain(await pay.button.innerText())).toBe('Оплатить 3 000,00 ₽');
      await pay.pay(GOOD);

      await pay.expectState('succeeded');
      const receipt = plain(await pay.screens.innerText());
      for (const fact of ['Оплачено', '3 000,00 ₽', order.id, '•••• 4444', 'pi_']) expect(receipt).toContain(fact);
      await bank.expectOneCharge(order.id, '3000.00', last4(GOOD));

      await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
      await expectShopSays(page, 'paid');
      await expect(page.locator('[data-shop=order]')).toContainText(order.id);
      await expect(page.getByRole('link', { name: /Оплатить/ })).toHaveCount(0);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, 'nothing sticks out sideways').toBeLessThanOrEqual(0);
    });
  });
}

test('a decline says why, and the next try is a linked new intent with one charge (R16)', async ({ page, bank, merchant }) => {
  const { order, pay } = await buy(page);
  const first = (await merchant.checkout(order.checkoutId)).payment_intent.id;
  await pay.hydrated();
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  await expect(pay.screens).toContainText('На карте недостаточно денег');
  await expect(pay.screens).toContainText('Деньги не списаны');
  expect(await bank.charges(order.id)).toEqual([]);

  await pay.tryAgain();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
  const second = (await merchant.checkout(order.checkoutId)).payment_intent.id;
  expect(second).not.toBe(first);
  expect((await merchant.intent(second)).previous_intent_id).toBe(first);
  expect((await bank.payments(order.id)).map((payment) => payment.metadata.payment_intent_id).sort())
    .toEqual([first, second].sort());
});

for (const [card, reason] of [
  [EXPIRED, 'Срок действия карты истёк'],
  [DECLINED, 'Банк не назвал причину'],
] as const) {
  test(`a card ending in ${last4(card)} is declined with its reason and no charge`, async ({ page, bank }) => {
    const { order, pay } = await buy(page, 'filters');
    await pay.hydrated();
    await pay.pay(card);
    await pay.expectState('declined');
    await expect(pay.screens).toContainText(reason);
    expect(await bank.charges(order.id)).toEqual([]);
    await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
    await expectShopSays(page, 'failed');
  });
}

for (const card of [OTHER_GOOD, MIR]) {
  test(`a card ending in ${last4(card)} pays, typed with spaces and with the old year format`, async ({ page, bank }) => {
    const { order, pay } = await buy(page, 'filters');
    await pay.hydrated();
    await pay.pay({ number: card.number.replace(/(\d{4})(?=\d)/g, '$1 '), expiry: '1/2034', code: '000' });
    await pay.expectState('succeeded');
    await bank.expectOneCharge(order.id, '390.00', last4(card));
  });
}

test('fault 9: two purchases of the same thing are two charges (R5)', async ({ page, bank }) => {
  const orders = [];
  for (const quantity of [1, 1]) {
    const { order, pay } = await buy(page, 'guji', quantity);
    await pay.hydrated();
    await pay.pay(GOOD);
    await pay.expectState('succeeded');
    orders.push(order.id);
  }
  expect(orders[0]).not.toBe(orders[1]);
  for (const id of orders) await bank.expectOneCharge(id, '890.00');
});

test('a buy form that is sent twice is one order and one checkout (R1)', async ({ page, bank }) => {
  await page.goto('/shop');
  const form = page.locator('form[data-good=guji]');
  await form.locator('button[name=buy]').dblclick();
  await page.waitForURL('**/pay/**');
  const first = await orderOf(await new PayPage(page).hydrated());

  await page.goBack();
  await form.locator('button[name=buy]').click();
  await page.waitForURL('**/pay/**');
  const pay = await new PayPage(page).hydrated();
  const second = await orderOf(pay);
  expect({ ...second, url: '' }).toEqual({ ...first, url: '' });
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(first.id, '890.00');
});

test('a receipt says the same fresh and after a reload, when it was paid included', async ({ page }) => {
  const { pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  const facts = pay.screens.locator('.facts');
  await expect(facts.locator('time')).toBeVisible();
  const fresh = await facts.innerText();
  expect(fresh).toMatch(/Время\s+\d+ [а-я]+\.? \d{4} г\., \d+:\d\d:\d\d/);
  await page.reload();
  await pay.hydrated();
  expect(await facts.innerText()).toBe(fresh);
});
