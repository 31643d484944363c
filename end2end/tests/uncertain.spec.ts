// The bank does something and we cannot know what: confirming, no invitation to pay, and the truth by itself (R10, N2).
import type { Request } from '@playwright/test';
import { GOOD, NO_FUNDS, last4 } from '../helpers/cards.ts';
import { Gate, NEWS, SUBMIT } from '../helpers/gate.ts';
import { PayPage } from '../helpers/pay_page.ts';
import { buy, buyInTheDark, expectShopSays } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

/** How the page asks how the payment stands. */
const INTENT = /\/v1\/payment_intents\/[^/?]+$/;

for (const [name, kind] of [
  ['fault 37: the bank never gets the request', 'lose_request'],
  ["fault 38: the bank's answer is lost after the charge", 'lose_answer'],
  ['fault 41: a 500 after the charge', 'error_500_after'],
  ['a 500 before the charge', 'error_500_before'],
  ['fault 47: half an answer', 'garbage'],
] as const) {
  // bcgov/entity#32832: "failed" needs proof.
  test(`${name}: being confirmed, then paid by itself with one charge (R10, N2)`, async ({ page, bank }) => {
    const { order, pay } = await buy(page);
    await pay.hydrated();
    await bank.breaks({ kind, order_id: order.id });
    const questions = await Gate.on(page, NEWS);
    await pay.pay(GOOD);
    await pay.expectState('confirming');
    await pay.expectNoInvitation();
    await expect(pay.screens).toContainText('Уточняем результат оплаты');
    await expect(pay.screens).toContainText(await pay.root.getAttribute('data-intent') ?? 'no intent');
    await expect(pay.screens.getByRole('heading')).toBeFocused();
    await expect(pay.live).toContainText('Уточняем результат оплаты');
    await questions.open();
    await pay.expectState('succeeded');
    await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
    await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
    await expectShopSays(page, 'paid');
  });
}

test('while the result is unknown the shop, the link and a reload all say so, and the link shows it later (N2)', async ({ page, bank, newDevice }) => {
  const { order, pay } = await buyInTheDark(page, bank);
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

test('what is done to learn the result is told by the shopper\'s clock, step by step, without a reload (N2)', async ({ page, bank }) => {
  const { order, pay } = await buyInTheDark(page, bank);
  const steps = pay.screens.locator('.trail li');
  await expect(steps.nth(1)).toBeVisible();
  await expect(steps.first()).toContainText('Отправили в банк, ответа не было');
  const [said, sent] = await steps.first().locator('time').evaluate((time: HTMLTimeElement) => [time.textContent, time.dateTime]);
  expect(said).toBe(new Date(sent).toLocaleTimeString('ru-RU', { timeZone: 'Europe/Moscow' }));
  await expect(pay.screens.getByText(/Последний раз спрашивали банк: \d+:\d+:\d+\./)).toBeVisible();
  await expect(pay.screens.getByText(/Снова спросим: \d+:\d+:\d+\./)).toBeVisible();
  const link = pay.screens.getByRole('link', { name: 'по этой же ссылке' });
  expect(new URL((await link.getAttribute('href'))!).pathname).toBe(new URL(order.url).pathname);
  await expect(pay.screens.getByText(/Напишем на/), 'nothing is promised to nobody').toBeHidden();
});

test('an address can be left while the result is confirmed, and the page then says where it will write (N2)', async ({ page, bank }) => {
  const { order, pay } = await buyInTheDark(page, bank, { email: '' });
  await pay.screens.getByLabel('Почта, чтобы узнать результат').fill('anna@example.com');
  await pay.screens.getByRole('button', { name: 'Написать мне' }).click();
  await page.waitForURL(`**/pay/${order.checkoutId}?**`);
  await pay.expectState('confirming');
  await expect(pay.screens).toContainText('Напишем на anna@example.com, когда узнаем результат.');
  await expect(pay.screens.getByLabel('Почта, чтобы узнать результат')).toBeHidden();
  await pay.expectNoInvitation();
});

test('an address that is being typed on the page to read stays while it looks again (N2)', async ({ page, bank }) => {
  const { order } = await buyInTheDark(page, bank, { email: '' });
  await page.goto(order.url.replace('?', '/status?'));
  const field = page.getByLabel('Почта, чтобы узнать результат').filter({ visible: true });
  await field.fill('anna@exa');
  const looked = page.locator('[data-screen=confirming] [data-look=last] time');
  const before = await looked.getAttribute('datetime');
  await expect(looked).not.toHaveAttribute('datetime', before ?? '');
  await expect(field).toHaveValue('anna@exa');
  await expect(field).toBeFocused();
  await bank.recovers();
  await expect(page.locator('[data-payonce][data-state=succeeded]')).toBeVisible();
  await bank.expectOneCharge(order.id, '1500.00');
});

test('the address that was sent with the payment is where the page says it will write (N2)', async ({ page, bank }) => {
  const { pay } = await buyInTheDark(page, bank, { email: 'boris@example.com' });
  await expect(pay.screens).toContainText('Напишем на boris@example.com, когда узнаем результат.');
  await page.reload();
  await pay.expectState('confirming');
  await expect(pay.screens).toContainText('Напишем на boris@example.com');
});

test("money of somebody else is in question: nobody is said to have begun, no mail is promised, and the form comes back (N1, N2)", async ({ page, watch }) => {
  watch.expects(/ERR_/);
  const { pay } = await buy(page);
  await pay.hydrated();
  await page.route('**/events?**', (route) => route.abort());
  await page.route(INTENT, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), state: 'needs_review', in_question: 'review' } });
  });
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await pay.expectState('needs_review');
  await pay.expectNoInvitation();
  await expect(pay.note('Этот платёж начат')).toHaveCount(0);
  await expect(pay.screens.getByRole('button', { name: 'Написать мне' })).toBeHidden();
  await page.unroute(INTENT);
  await pay.screens.getByRole('button', { name: 'Проверить сейчас' }).click();
  await pay.expectState('ready');
});

test('two devices with two addresses: each says where the mail really goes (N1, N2)', async ({ page, bank, newDevice }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const device = await new PayPage(await (await newDevice()).newPage()).open(order.url);
  await bank.fallsSilent(order.id);
  await pay.email.fill('first@example.com');
  await pay.pay(GOOD);
  await pay.expectState('confirming');
  await device.email.fill('second@example.com');
  await device.pay(GOOD);
  await device.expectState('confirming');
  for (const tab of [pay, device]) {
    await expect(tab.screens).toContainText('Напишем на first@example.com, когда узнаем результат.');
    await expect(tab.screens).not.toContainText('second@example.com');
  }
  // It was a typing error: another one takes its place, and both say so.
  await device.screens.getByRole('link', { name: 'Другой адрес' }).click();
  await device.hydrated();
  const address = device.screens.getByLabel('Почта, чтобы узнать результат');
  await expect(address).toBeVisible();
  await address.fill('third@example.com');
  await address.press('Enter');
  for (const tab of [pay, device]) await expect(tab.screens).toContainText('Напишем на third@example.com, когда узнаем результат.');
  await device.hydrated();
  await bank.recovers();
  await pay.expectState('succeeded');
  await device.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('on a phone what can be pressed stays where it is while the trail grows, and an address can be read while it is typed (N2)', async ({ page, bank }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const { pay } = await buyInTheDark(page, bank, { email: '' });
  const check = pay.screens.getByRole('button', { name: 'Проверить сейчас' });
  const steps = pay.screens.locator('.trail li');
  const [before, count] = [await check.boundingBox(), await steps.count()];
  await expect.poll(() => steps.count()).toBeGreaterThan(count + 1);
  expect((await check.boundingBox())!.y).toBe(before!.y);
  const field = pay.screens.getByLabel('Почта, чтобы узнать результат');
  expect((await field.boundingBox())!.width).toBeGreaterThan(250);
});

test('the link can be copied, and opens the payment elsewhere (N2)', async ({ page, context, bank, newDevice }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { pay } = await buyInTheDark(page, bank);
  await pay.screens.getByRole('button', { name: 'Скопировать ссылку' }).click();
  await expect(pay.live).toContainText('Ссылка скопирована');
  await expect(pay.screens.getByRole('button', { name: 'Ссылка скопирована' }), 'and seen').toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const later = new PayPage(await (await newDevice()).newPage());
  await later.page.goto(copied);
  await later.expectState('confirming');
  await later.expectNoInvitation();
});

for (const [what, hinder] of [
  ['refuses', () => { navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError')); }],
  ['is not there', () => { Object.defineProperty(navigator, 'clipboard', { value: undefined }); }],
] as const) {
  test(`a clipboard that ${what}: nothing is said to be copied`, async ({ page, context, bank }) => {
    await context.addInitScript(hinder);
    const { pay } = await buyInTheDark(page, bank);
    await pay.screens.getByRole('button', { name: 'Скопировать ссылку' }).click();
    await expect(pay.screens.getByRole('button', { name: 'Скопируйте ссылку из адресной строки' })).toBeVisible();
    await expect(pay.live).toContainText('Скопируйте ссылку из адресной строки');
  });
}

test('check now brings the result before it would come by itself (N2)', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await bank.breaks({ kind: 'lose_answer', order_id: order.id });
  const questions = await Gate.on(page, NEWS);
  await pay.pay(GOOD);
  await pay.expectState('confirming');
  const asked = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/check'));
  await pay.screens.getByRole('button', { name: 'Проверить сейчас' }).click();
  await asked;
  await questions.open();
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

test('the payment cannot be passed to the bank: said so, with the time until which we try, and paid by itself when it can (N2)', async ({ page, context, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const other = await new PayPage(await context.newPage()).open(order.url);
  await bank.turnsAway(order.id);
  await pay.email.fill('');
  await pay.pay(GOOD);
  await pay.expectState('processing');
  for (const tab of [pay, other]) {
    await expect(tab.screens.getByRole('heading')).toHaveText('Передать платёж в банк пока не удалось');
    await expect(tab.screens).toContainText('деньги пока не списаны. Мы продолжаем пробовать сами.');
    await expect(tab.screens).toContainText(/Если до \d+:\d+:\d+ не получится, оплата закончится без списания/);
    await expect(tab.screens.locator('.trail li').first()).toContainText('Передать в банк не удалось: ничего не исполнено');
    await tab.expectNoInvitation();
  }
  await expect(pay.live).toContainText('Передать платёж в банк пока не удалось');
  await expect(other.note('Этот платёж начат в другой вкладке')).toBeVisible();

  // Whoever types an address keeps the field, and the focus, however many tries there are.
  const address = pay.screens.getByLabel('Почта, чтобы узнать результат');
  await address.fill('anna@');
  const tries = await pay.screens.locator('.trail li').count();
  await expect.poll(() => pay.screens.locator('.trail li').count()).toBeGreaterThan(tries);
  await expect(address).toBeFocused();
  await expect(address).toHaveValue('anna@');

  expect(await bank.payments(order.id)).toEqual([]);
  await bank.recovers();
  await Promise.all([pay.expectState('succeeded'), other.expectState('succeeded')]);
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test('an address that is none comes back with what is wrong at its field, and nothing is lost (N2)', async ({ page, bank, watch }) => {
  watch.expects(/status of 422/);
  const { pay } = await buyInTheDark(page, bank, { email: '' });
  const address = pay.screens.getByLabel('Почта, чтобы узнать результат');
  await expect(address).toHaveAttribute('autocomplete', 'email');
  // A browser without this check, or an old one.
  await pay.screens.locator('form.mail').evaluate((form: HTMLFormElement) => (form.noValidate = true));
  await address.fill('<script>@b.com');
  await pay.screens.getByRole('button', { name: 'Написать мне' }).click();
  await expect(address).toHaveAttribute('aria-invalid', 'true');
  await expect(address).toHaveValue('<script>@b.com');
  await expect(address).toHaveAccessibleName(/Проверьте адрес/);
  await pay.expectState('confirming');
  await address.fill('anna@example.com');
  await pay.screens.getByRole('button', { name: 'Написать мне' }).click();
  await expect(pay.screens).toContainText('Напишем на anna@example.com');
});

test('fault 67: a press that was lost arrives while another card is being sent: its card is named, and nobody leaves meanwhile', async ({ page, bank, watch }) => {
  watch.expects(/ERR_CONNECTION_RESET/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  let lost: Request | undefined;
  await page.route(SUBMIT, (route) => {
    lost = route.request();
    return route.abort('connectionreset');
  }, { times: 1 });
  await pay.pay(NO_FUNDS);
  await pay.expectState('ready');
  await expect(pay.note('Оплата до нас пока не дошла')).toBeVisible();

  const gate = await Gate.on(page, SUBMIT);
  await pay.pay(GOOD);
  await gate.hasHeld(1);
  await expect(pay.number).not.toBeEditable();
  await pay.root.getByRole('button', { name: 'Заплатить на странице банка' }).click({ force: true });
  await pay.expectState('submitting');
  // A proxy had it: it arrives only now.
  expect((await page.request.fetch(lost!)).ok()).toBe(true);
  await gate.open();
  await pay.expectState('declined');
  await expect(pay.screens).toContainText('Карта •••• 4600');
  await expect(pay.note('Использована карта •••• 4600: её ввели раньше')).toBeVisible();
  expect(await bank.charges(order.id)).toEqual([]);
  expect(await bank.payments(order.id)).toHaveLength(1);
});
