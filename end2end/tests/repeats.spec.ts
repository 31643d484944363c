// The same intention, expressed more than once: impatience, reloads, tabs, devices.
import { comeBackFromCache, countRequests, countSubmits } from '../helpers/browser.ts';
import { GOOD, NO_FUNDS, OTHER_GOOD, last4 } from '../helpers/cards.ts';
import { Gate, NEWS, SUBMIT } from '../helpers/gate.ts';
import { PayPage } from '../helpers/pay_page.ts';
import { buy, expectShopSays } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

test('fault 1: a double click pays once (R1, R6)', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.fill(GOOD);
  const submits = countSubmits(page);
  await pay.button.dblclick();
  await pay.expectState('succeeded');
  expect(submits()).toBe(1);
  await bank.expectOneCharge(order.id, '1500.00');
  expect(await bank.payments(order.id)).toHaveLength(1);
});

test('fault 1: Enter and a click, and more of both, pay once', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await bank.breaks({ kind: 'delay', order_id: order.id, delay_ms: 1000 });
  await pay.fill(GOOD);
  const submits = countSubmits(page);
  await pay.code.press('Enter');
  await pay.expectState('submitting');
  await expect(pay.button).toHaveAttribute('aria-disabled', 'true');
  // It is aria-disabled, and Playwright would wait; a shopper does not.
  await pay.button.click({ force: true });
  await pay.code.press('Enter');
  await pay.button.click({ force: true, clickCount: 3 });
  await pay.expectState('succeeded');
  expect(submits()).toBe(1);
  await bank.expectOneCharge(order.id, '1500.00');
});

// adyen-web#2703: every press of somebody who has lost patience, in one go and faster than a person could.
test('fault 1: frantic clicking sends one payment (R1)', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await bank.breaks({ kind: 'delay', order_id: order.id, delay_ms: 500 });
  await pay.fill(GOOD);
  const [submits, tokens] = [countRequests(page, '/submit'), countRequests(page, '/v3/tokens')];
  await pay.button.evaluate(async (button: HTMLButtonElement) => {
    for (let press = 0; press < 60; press += 1) {
      button.click();
      button.form!.requestSubmit(button);
      // Some in one task, some in the next ones.
      if (press % 7 === 0) await new Promise((turn) => setTimeout(turn));
    }
  });
  await pay.expectState('succeeded');
  expect([submits(), tokens()]).toEqual([1, 1]);
  await bank.expectOneCharge(order.id, '1500.00');
  expect(await bank.payments(order.id)).toHaveLength(1);
});

test('fault 2: a reload in mid-payment finds the same payment and its result (R9)', async ({ page, bank, merchant }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const intent = (await merchant.checkout(order.checkoutId)).payment_intent.id;
  await bank.breaks({ kind: 'delay', order_id: order.id, delay_ms: 3000 });
  await pay.pay(GOOD);
  await bank.expectFaultsMet(order.id);

  await page.reload();
  await pay.expectState('processing');
  await pay.expectNoInvitation();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
  expect((await merchant.checkout(order.checkoutId)).payment_intent.id).toBe(intent);
});

test('a reload before the server has heard anything brings the form back with the same key (R1)', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const key = await pay.root.getAttribute('data-key');
  const gate = await Gate.on(page, SUBMIT);
  await pay.pay(GOOD);
  await gate.hasHeld(1);
  await page.reload();
  await gate.open();
  await pay.hydrated();
  await pay.expectState('ready');
  await expect(pay.root).toHaveAttribute('data-key', key!);
  await bank.expectNothing(order.id);
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

for (const [what, cards] of [
  ['one card', [GOOD, GOOD]],
  ['two cards', [GOOD, OTHER_GOOD]],
] as const) {
  const fault = what === 'one card' ? 'fault 3' : 'fault 67';
  test(`${fault}: two tabs that submit ${what} at once are one charge, and both say with which card (R6, N1)`, async ({ page, context, bank }) => {
    const { order, pay: first } = await buy(page);
    const second = new PayPage(await context.newPage());
    const tabs = [await first.hydrated(), await second.open(order.url)];
    const gate = await Gate.on(context, SUBMIT);
    for (const [place, tab] of tabs.entries()) {
      await tab.page.bringToFront();
      await tab.pay(cards[place]);
      await tab.expectState('submitting');
    }
    await gate.hasHeld(2);
    await gate.open();
    await Promise.all(tabs.map((tab) => tab.expectState('succeeded')));

    const [charge, ...more] = await bank.charges(order.id);
    expect(more).toEqual([]);
    expect(await bank.payments(order.id)).toHaveLength(1);
    const used = charge.payment_method?.card?.last4;
    for (const [place, tab] of tabs.entries()) {
      await expect(tab.screens).toContainText(`•••• ${used}`);
      const note = tab.note(`Использована карта •••• ${used}: её ввели раньше, в другой вкладке`);
      await expect(note).toHaveCount(last4(cards[place]) === used ? 0 : 1);
    }
  });
}

// mollie/WooCommerce#1204: the second tab adopts the payment of the first.
test('N1: while one tab pays the other one says so, offers no payment, and shows the same result', async ({ page, context, bank }) => {
  const { order, pay: first } = await buy(page);
  const second = await new PayPage(await context.newPage()).open(order.url);
  await second.fill(OTHER_GOOD);
  await bank.breaks({ kind: 'delay', order_id: order.id, delay_ms: 3000 });
  await first.hydrated();
  await first.pay(GOOD);
  await second.expectState('elsewhere');
  await second.expectNoInvitation();
  await Promise.all([first.expectState('succeeded'), second.expectState('succeeded')]);
  await expect(second.screens).toContainText('•••• 4444');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test('N1: a tab reloaded while its submit is on its way shows its own payment, not that of another tab', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await bank.breaks({ kind: 'delay', order_id: order.id, delay_ms: 3000 });
  const gate = await Gate.on(page, SUBMIT);
  await pay.pay(GOOD);
  const [submit] = await gate.hasHeld(1);
  await page.reload();
  await pay.expectState('ready');
  await pay.hydrated();
  // It arrives only now: slow networks do that.
  const arrived = page.request.fetch(submit);
  await pay.expectState('processing');
  await pay.expectNoInvitation();
  await expect(pay.root.locator('[data-other=tab]')).toBeHidden();
  await pay.expectState('succeeded');
  expect((await arrived).ok()).toBe(true);
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test('fault 8: a second device with the same link gets the same payment and result (R9)', async ({ page, bank, newDevice, merchant }) => {
  const { order, pay: first } = await buy(page);
  const second = new PayPage(await (await newDevice()).newPage());
  await Promise.all([first.hydrated(), second.open(order.url)]);
  await bank.breaks({ kind: 'delay', order_id: order.id, delay_ms: 2000 });
  await first.pay(GOOD);
  await bank.expectFaultsMet(order.id);
  await second.pay(OTHER_GOOD);
  await Promise.all([first.expectState('succeeded'), second.expectState('succeeded')]);
  await expect(second.note('Использована карта •••• 4444')).toBeVisible();
  expect(await second.root.getAttribute('data-intent')).toBe(await first.root.getAttribute('data-intent'));
  expect((await merchant.intent((await first.root.getAttribute('data-intent'))!)).state).toBe('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));

  const third = new PayPage(await (await newDevice()).newPage());
  await third.page.goto(order.url);
  await third.expectState('succeeded');
});

test('fault 12: back after paying shows that it is paid', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
  await expectShopSays(page, 'paid');
  await page.goBack();
  await pay.expectState('succeeded');
  await expect(pay.button).toBeHidden();
  await bank.expectOneCharge(order.id, '1500.00');
});

test('fault 12: a page from the back-forward cache asks before it offers anything', async ({ page, bank, newDevice }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const other = await new PayPage(await (await newDevice()).newPage()).open(order.url);
  await other.pay(GOOD);
  await other.expectState('succeeded');

  await pay.expectState('ready');
  await comeBackFromCache(page);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('a press on a page that the order has left behind: it says that nothing was started, and how the order stands (N1, fault 67)', async ({ page, bank, newDevice }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const device = await new PayPage(await (await newDevice()).newPage()).open(order.url);
  await device.pay(NO_FUNDS);
  await device.expectState('declined');
  await device.tryAgain();
  await pay.pay(OTHER_GOOD);
  await expect(pay.note('Это нажатие «Оплатить» платежа не начало')).toBeVisible();
  await expect(pay.live).toContainText('платежа не начало');
  await pay.expectState('ready');
  await device.pay(GOOD);
  await device.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
  await page.reload();
  await pay.hydrated();
  await pay.expectState('succeeded');
  await expect(pay.note('платежа не начало'), 'said once').toHaveCount(0);
});

test('a card that was never tried, for another device was quicker, is in the form of the next try (fault 67)', async ({ page, bank, newDevice }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const device = await new PayPage(await (await newDevice()).newPage()).open(order.url);
  const news = await Gate.on(page, NEWS);
  await pay.fill(OTHER_GOOD);
  await device.pay(NO_FUNDS);
  await device.expectState('declined');
  await pay.button.click();
  await pay.expectState('declined');
  await expect(pay.note(last4(NO_FUNDS))).toBeVisible();
  await news.open();
  await pay.tryAgain();
  await expect(pay.number).toHaveValue('4111 1111 1111 1111');
  await expect(pay.live).toBeEmpty();
  await pay.button.click();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(OTHER_GOOD));
});

test('fault 61: a stale page that tries again after the order was paid is shown that it is paid, and one with scripts learns it by itself', async ({ page, bank, newDevice, merchant }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  const live = await new PayPage(await (await newDevice()).newPage()).open(order.url);
  await live.expectState('declined');
  const stale = new PayPage(await (await newDevice({ javaScriptEnabled: false })).newPage());
  await stale.page.goto(order.url);
  await stale.expectState('declined');

  await pay.tryAgain();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  const paidBy = (await merchant.checkout(order.checkoutId)).payment_intent.id;

  await live.expectState('succeeded');
  await stale.page.getByRole('button', { name: 'Попробовать ещё раз' }).click();
  await stale.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
  expect((await merchant.checkout(order.checkoutId)).payment_intent.id).toBe(paidBy);
});

test('tabs that show a decline leave each other alone', async ({ page, context, bank }) => {
  const { order, pay: first } = await buy(page);
  await first.hydrated();
  await first.pay(NO_FUNDS);
  await first.expectState('declined');
  const second = await new PayPage(await context.newPage()).open(order.url);
  const loads: string[] = [];
  context.on('request', (request) => {
    if (request.isNavigationRequest()) loads.push(request.url());
  });
  // Time enough for every message between them: a third tab comes, and then a fourth.
  for (const number of [3, 4]) {
    const tab = await new PayPage(await context.newPage()).open(order.url);
    await tab.expectState('declined');
    expect(loads.length, `page loads when tab ${number} came`).toBeLessThanOrEqual(number - 2);
  }
  for (const tab of [first, second]) await tab.expectState('declined');
  expect(await bank.charges(order.id)).toEqual([]);
});

test('two tabs that both try again get one new intent, and pay once', async ({ page, context, bank }) => {
  const { order, pay: first } = await buy(page);
  await first.hydrated();
  await first.pay(NO_FUNDS);
  await first.expectState('declined');
  const second = await new PayPage(await context.newPage()).open(order.url);
  const gate = await Gate.on(context, '**/v1/checkouts/*/payment_intents');
  for (const tab of [first, second]) await tab.page.getByRole('button', { name: 'Попробовать ещё раз' }).click();
  await gate.hasHeld(2);
  await gate.open();
  for (const tab of [first, second]) {
    await tab.expectState('ready');
    await tab.hydrated();
  }
  expect(await second.root.getAttribute('data-intent')).toBe(await first.root.getAttribute('data-intent'));
  await second.pay(GOOD);
  await second.expectState('succeeded');
  await first.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});
