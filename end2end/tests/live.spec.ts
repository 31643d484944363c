// A payment as it goes on, live: tabs mirror each other over one stream (N1), and whatever breaks in between, the page comes to the
// truth by itself (N2).
import type { BrowserContext, Page, Request } from '@playwright/test';
import { Bank } from '../helpers/bank.ts';
import { GOOD, NO_FUNDS, OTHER_GOOD, last4 } from '../helpers/cards.ts';
import { EVENTS, heldBack } from '../helpers/gate.ts';
import { Merchant } from '../helpers/merchant.ts';
import { PayPage } from '../helpers/pay_page.ts';
import { Payonce } from '../helpers/server.ts';
import { buy, buyInTheDark } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

/** Tabs show the same within about a second. */
const MIRROR_MS = 1500;

/** Which pages hold a stream now. */
function streams(context: BrowserContext): Page[] {
  const open: Page[] = [];
  context.on('request', (request) => {
    if (EVENTS.test(request.url())) open.push(request.frame().page());
  });
  const ended = (request: Request): void => {
    const place = EVENTS.test(request.url()) ? open.indexOf(request.frame().page()) : -1;
    if (place >= 0) open.splice(place, 1);
  };
  context.on('requestfinished', ended);
  context.on('requestfailed', ended);
  return open;
}

test('N1: two tabs mirror one payment within a second, over one stream', async ({ page, context, bank }) => {
  const open = streams(context);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const second = await new PayPage(await context.newPage()).open(order.url);
  await bank.fallsSilent(order.id, { times: 2, delay_ms: 1500 });
  await pay.pay(GOOD);
  await second.expectState('elsewhere');
  await pay.expectState('confirming');
  await expect(second.root).toHaveAttribute('data-state', 'confirming', { timeout: MIRROR_MS });
  await Promise.all([pay, second].map((tab) => tab.expectNoInvitation()));
  await expect.poll(() => open.length).toBe(1);
  await Promise.race([pay.expectState('succeeded'), second.expectState('succeeded')]);
  for (const tab of [pay, second]) await expect(tab.root).toHaveAttribute('data-state', 'succeeded', { timeout: MIRROR_MS });
  await expect.poll(() => open.length, 'nobody listens any more').toBe(0);
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test('N1: when the tab with the stream is closed, another one takes it over', async ({ page, context, bank }) => {
  const open = streams(context);
  const { order } = await buyInTheDark(page, bank, { times: 4 });
  await expect.poll(() => open).toEqual([page]);
  const second = await new PayPage(await context.newPage()).open(order.url);
  await second.expectState('confirming');
  await page.close();
  await expect.poll(() => open).toContain(second.page);
  await second.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('without streams and locks the page asks at growing intervals, and comes to the same result (N2)', async ({ page, context, bank }) => {
  await context.addInitScript(() => {
    Object.defineProperty(window, 'EventSource', { value: undefined });
    Object.defineProperty(navigator, 'locks', { value: undefined });
  });
  const { order, pay } = await buyInTheDark(page, bank);
  await bank.recovers();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('a stream that the server refuses is no loss: the page asks (N2)', async ({ page, bank, watch }) => {
  watch.expects(/status of 503/);
  await page.route(EVENTS, (route) => route.fulfill({ status: 503 }));
  const { order, pay } = await buyInTheDark(page, bank);
  await bank.recovers();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('offline while the result is confirmed: no invitation to pay, and the truth when the network is back (N2)', async ({ page, context, bank, watch }) => {
  watch.expects(/ERR_INTERNET_DISCONNECTED/);
  // A browser that only plays offline leaves an open stream open.
  await context.addInitScript(() => Object.defineProperty(window, 'EventSource', { value: undefined }));
  const { order, pay } = await buyInTheDark(page, bank);
  await context.setOffline(true);
  const check = pay.screens.getByRole('button', { name: 'Проверить сейчас' });
  await check.click();
  await pay.expectNoInvitation();
  await expect(pay.note('Связи с сервером сейчас нет')).toBeVisible();
  await expect(pay.live).toContainText('Связи с сервером сейчас нет');
  await expect(check, 'nobody is taken from where they are').toBeFocused();
  await context.setOffline(false);
  await check.click();
  await expect(pay.note('Связи с сервером сейчас нет')).toHaveCount(0);
  await expect(pay.live, 'it is true no more').toBeEmpty();
  await pay.expectState('confirming');
  await bank.recovers();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

for (const [when, fault] of [
  ['while the bank is at work', { kind: 'delay', delay_ms: 20_000 }],
  ['while the result is confirmed', { kind: 'lose_answer', times: 1000 }],
] as const) {
  test(`the server is killed ${when} and started again: the page comes to the result by itself, with one charge (R13, N2)`, async ({ page, watch }) => {
    watch.expects(/ERR_|status of 503/);
    const payonce = await Payonce.start('lease_s = 2\nretry_max_s = 1');
    const [merchant, bank] = [new Merchant(payonce.url), new Bank(payonce.bankUrl)];
    const order = await merchant.offer();
    const pay = await new PayPage(page).open(order.url);
    await bank.breaks({ order_id: order.order_id, ...fault });
    await bank.breaks({ order_id: order.order_id, kind: 'not_found', on: 'get', times: 1000 });
    await pay.pay(GOOD);
    await expect.poll(async () => (await merchant.intent(order.payment_intent.id)).state).not.toBe('created');
    if (fault.kind === 'lose_answer') await pay.expectState('confirming');
    await payonce.kill();
    await expect(pay.root).toHaveAttribute('data-state', /checking|confirming/);
    await pay.expectNoInvitation();
    await payonce.run();
    await bank.recovers();
    await pay.expectState('succeeded');
    await bank.expectOneCharge(order.order_id, '1500.00', last4(GOOD));
    await payonce.stop();
  });
}

test('N1: an order runs out under a page left open: nothing is offered that does not work, without a reload', async ({ page, context, merchant, payonce }) => {
  const order = await merchant.offer({ expires_in: 13, return_url: `${payonce.url}/shop` });
  const form = await new PayPage(await context.newPage()).open(order.url);
  await form.page.evaluate(() => Object.assign(window, { opened: 'once' }));
  const pay = await new PayPage(page).open(order.url);
  await form.expectState('ready');
  const later = await merchant.offer({ expires_in: 4, return_url: `${payonce.url}/shop` });
  const open = await new PayPage(await context.newPage()).open(later.url);
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  const again = pay.screens.getByRole('button', { name: 'Попробовать ещё раз' });
  await expect(again).toBeVisible();
  await again.focus();

  await open.expectState('expired');
  await expect(open.screens.getByText('Заплатить за этот заказ здесь больше нельзя.')).toBeVisible();
  await expect(open.button).toBeHidden();

  await expect(pay.screens.getByText('Заплатить за этот заказ здесь больше нельзя.')).toBeVisible();
  await expect(again).toBeHidden();
  await expect(pay.screens.getByRole('heading')).toBeFocused();
  await expect(pay.live).toContainText('Заплатить за этот заказ здесь больше нельзя.');
  await pay.expectState('declined');
  await expect(form.root.getByRole('button', { name: 'Попробовать ещё раз' })).toBeHidden();
  expect(await form.page.evaluate(() => 'opened' in window)).toBe(true);
  await pay.screens.getByRole('link', { name: 'Вернуться в магазин' }).click();
  await page.waitForURL('**/shop');
});

test('fault 23: a payment that the server keeps back is said to wait, aloud too, in every tab, and nothing is said of the money', async ({ page, context, bank, watch }) => {
  watch.expects(/ERR_FAILED/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const other = await new PayPage(await context.newPage()).open(order.url);
  await Promise.all([heldBack(page), heldBack(other.page)]);
  await bank.turnsAway(order.id);
  await pay.pay(GOOD);
  for (const tab of [pay, other]) {
    await tab.page.bringToFront();
    await expect(tab.screens.getByRole('heading')).toHaveText('Платёж принят и ждёт');
    await expect(tab.live).toContainText('Платёж принят и ждёт');
    await expect(tab.screens.getByText('не списаны').filter({ visible: true })).toHaveCount(0);
    await tab.expectNoInvitation();
  }
  for (const tab of [pay, other]) await tab.page.unrouteAll({ behavior: 'ignoreErrors' });
  await bank.recovers();
  await Promise.all([pay.expectState('succeeded'), other.expectState('succeeded')]);
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test('a tab that waits at a decline follows when another device tries again and pays (N1)', async ({ page, bank, newDevice }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  const device = await new PayPage(await (await newDevice()).newPage()).open(order.url);
  await device.tryAgain();
  await expect(pay.root).toHaveAttribute('data-state', 'ready', { timeout: MIRROR_MS });
  await device.pay(GOOD);
  await device.expectState('succeeded');
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test('N1: a form that is open on another device learns that the order is paid, without a press', async ({ page, bank, newDevice }) => {
  const { order, pay } = await buy(page);
  const device = new PayPage(await (await newDevice()).newPage());
  await device.page.clock.install();
  await device.open(order.url);
  await device.fill(OTHER_GOOD);
  await pay.hydrated();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await device.page.clock.fastForward(16_000);
  await device.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test('N1: what was typed is there when another device was declined and tries again', async ({ page, bank, newDevice }) => {
  await page.clock.install();
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.fill(OTHER_GOOD);
  const device = await new PayPage(await (await newDevice()).newPage()).open(order.url);
  await device.pay(NO_FUNDS);
  await device.expectState('declined');
  await page.clock.fastForward(16_000);
  await pay.expectState('declined');
  await device.tryAgain();
  await pay.expectState('ready');
  await expect(pay.number).toHaveValue('4111 1111 1111 1111');
  await pay.button.click();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(OTHER_GOOD));
});

test('N1: new terms that another device pays first give way to the receipt', async ({ page, merchant, bank, newDevice, watch }) => {
  watch.expects(/status of 409/);
  const before = await merchant.offer();
  const pay = await new PayPage(page).open(before.url);
  const order = await merchant.offer({ order_id: before.order_id, rubles: 1700 });
  await pay.pay(GOOD);
  await pay.expectState('changed');
  await expect(page).toHaveTitle(/^Заказ изменился — /);
  const device = await new PayPage(await (await newDevice()).newPage()).open(order.url);
  await device.pay(OTHER_GOOD);
  await device.expectState('succeeded');
  await expect(pay.root).toHaveAttribute('data-state', 'succeeded', { timeout: MIRROR_MS });
  await expect(page).toHaveTitle(/^Оплачено — /);
  await expect(pay.screens).toContainText(`•••• ${last4(OTHER_GOOD)}`);
  await bank.expectOneCharge(order.order_id, '1700.00', last4(OTHER_GOOD));
});

test('an answer that comes after the receipt paints nothing over it (N2)', async ({ page, bank }) => {
  const { order, pay } = await buyInTheDark(page, bank);
  let late = (): void => {};
  const held = new Promise<void>((go) => (late = go));
  await page.route('**/v1/payment_intents/*/check', async (route) => {
    await held;
    const id = new URL(route.request().url()).pathname.split('/').at(-2);
    await route.fulfill({ json: { id, state: 'processing', progress: { held: true, steps: [] } } });
  });
  const answered = page.waitForResponse('**/v1/payment_intents/*/check');
  await pay.screens.getByRole('button', { name: 'Проверить сейчас' }).click();
  await bank.recovers();
  await pay.expectState('succeeded');
  await expect(pay.live).toContainText('Оплачено');
  late();
  await (await answered).finished();
  await page.evaluate(() => new Promise((next) => setTimeout(next, 100)));
  await expect(pay.live).toContainText('Оплачено');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});
