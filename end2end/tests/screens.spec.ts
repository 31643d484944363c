// Every screen a shopper can meet, light and dark: no violation axe knows of, nothing sticking out of a phone.
// The pictures in test-results/screens are there to be looked at.
import { ASKS_3DS, GOOD, NO_FUNDS, OTHER_GOOD } from '../helpers/cards.ts';
import { Gate, NEWS, SUBMIT, TOKENS, WASM, heldBack } from '../helpers/gate.ts';
import { Bank } from '../helpers/bank.ts';
import { Merchant } from '../helpers/merchant.ts';
import { PayPage, plain } from '../helpers/pay_page.ts';
import { Payonce } from '../helpers/server.ts';
import { inspect } from '../helpers/screens.ts';
import { buy, expectShopSays } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

test('screens of the shop', async ({ page, bank, watch }) => {
  watch.expects(/status of 40[049]/);
  await page.goto('/shop');
  await inspect(page, 'shop-shelves');
  const { order, pay } = await buy(page);
  const orderPage = `/shop/orders/${order.id}`;
  await page.goto(orderPage);
  await expectShopSays(page, 'waiting');
  await inspect(page, 'shop-order-waiting');

  await pay.open(order.url);
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  await page.goto(orderPage);
  await expectShopSays(page, 'failed');
  await inspect(page, 'shop-order-failed');

  await bank.fallsSilent(order.id, { times: 3 });
  await page.getByRole('link', { name: 'Попробовать ещё раз' }).click();
  await pay.tryAgain();
  await pay.pay(GOOD);
  await pay.expectState('confirming');
  await page.goto(orderPage);
  await expectShopSays(page, 'settling');
  await inspect(page, 'shop-order-settling');
  await expectShopSays(page, 'paid');
  await inspect(page, 'shop-order-paid');

  const second = await buy(page, 'guji');
  await second.pay.hydrated();
  await second.pay.pay(ASKS_3DS);
  await second.pay.expectState('requires_action');
  await page.goto(`/shop/orders/${second.order.id}`);
  await expectShopSays(page, 'at-the-bank');
  await inspect(page, 'shop-order-at-the-bank');

  await page.goto('/shop/orders/0000-0000-0000');
  await inspect(page, 'shop-no-such-order');
  await page.goto('/shop/nothing');
  await inspect(page, 'shop-no-such-page');
});

test('the shop when a paid order is ordered once more, or its form makes no sense', async ({ page, watch }) => {
  watch.expects(/status of 40[049]/);
  await page.goto('/shop');
  const form = page.locator('form[data-good=bravo]');
  await form.locator('button[name=buy]').click();
  const pay = await new PayPage(page).hydrated();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await page.goBack();
  await form.locator('button[name=buy]').click();
  await page.waitForLoadState();
  const said = page.locator('[data-shop=trouble][data-status=paid-already], [data-payonce][data-state=succeeded]');
  await expect(said).toBeVisible();
  await inspect(page, 'shop-paid-already');

  await page.goto('/shop');
  await form.locator('input[name=good]').evaluate((input: HTMLInputElement) => (input.value = 'nothing'));
  await form.locator('button[name=buy]').click();
  await expect(page.locator('[data-shop=trouble]')).toBeVisible();
  await inspect(page, 'shop-bad-form');
});

test('screens of the form', async ({ page, context, watch, merchant, bank }) => {
  watch.expects(/ERR_FAILED|ERR_CONNECTION_RESET|status of 409/);
  const checkout = await merchant.offer({ description: 'Кофемолка Bravo', customer: { email: 'anna@example.com' } });
  const pay = await new PayPage(page).open(checkout.url);
  await inspect(page, 'ready');
  await pay.button.click();
  await pay.expectState('invalid');
  await inspect(page, 'invalid');

  await page.route(TOKENS, (route) => route.abort(), { times: 1 });
  await pay.pay(GOOD);
  await expect(pay.note('Не удалось связаться с банком')).toBeVisible();
  await inspect(page, 'ready-no-token');

  const submits = await Gate.on(page, SUBMIT);
  await pay.button.click();
  await submits.hasHeld(1);
  await pay.expectState('submitting');
  await inspect(page, 'submitting');

  const other = await new PayPage(await context.newPage()).open(checkout.url);
  await bank.breaks({ kind: 'delay', order_id: checkout.order_id, delay_ms: 9000 });
  await submits.open();
  await other.expectState('elsewhere');
  await inspect(other.page, 'elsewhere');
  await other.page.close();
});

test('screens of terms that changed', async ({ page, merchant, watch }) => {
  watch.expects(/status of 409/);
  const checkout = await merchant.offer({ description: 'Кофемолка Bravo' });
  const pay = await new PayPage(page).open(checkout.url);
  await merchant.offer({ order_id: checkout.order_id, rubles: 1700, description: 'Кофемолка Bravo с гравировкой' });
  await pay.pay(GOOD);
  await pay.expectState('changed');
  await expect(pay.screens).toContainText('Новое описание: Кофемолка Bravo с гравировкой');
  expect(plain(await pay.screens.innerText())).toContain('Новая сумма: 1 700,00 ₽');
  await inspect(page, 'changed');

  // What is agreed to is what the page then says, its title included; a description may go as well.
  await pay.screens.getByText('Продолжить').click();
  await expect(pay.root.locator('h1')).toHaveText('Кофемолка Bravo с гравировкой');
  expect(plain(await page.title())).toMatch(/^Оплатить 1 700,00 ₽ — /);
  await merchant.offer({ order_id: checkout.order_id, rubles: 1700, description: undefined });
  await pay.pay(GOOD);
  await pay.expectState('changed');
  await expect(pay.screens).toContainText(`Новое описание: Заказ № ${checkout.order_id}`);
  await expect(pay.screens.getByText('Новая сумма')).toBeHidden();
  await pay.screens.getByText('Продолжить').click();
  await expect(pay.root.locator('h1')).toHaveText(`Заказ № ${checkout.order_id}`);
  await expect(pay.root.locator('.what p')).toBeHidden();

  // Only how the money is taken is new: the sum is not said to be.
  await merchant.offer({ order_id: checkout.order_id, rubles: 1700, capture: 'manual' });
  await pay.pay(GOOD);
  await pay.expectState('changed');
  expect(plain(await pay.screens.innerText())).toContain('Сумма прежняя: 1 700,00 ₽');
  await expect(pay.screens.getByText(/Новая сумма|Новое описание/).filter({ visible: true })).toHaveCount(0);
  await inspect(page, 'changed-terms-only');
});

test('screens of results', async ({ page, merchant, newDevice }) => {
  const order = await merchant.offer({ description: 'Кофемолка Bravo', return_url: undefined });
  const status = order.url.replace('?', '/status?');
  await page.goto(status);
  await inspect(page, 'status-created');

  const pay = await new PayPage(page).open(order.url);
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  await inspect(page, 'declined');
  const reader = await (await newDevice()).newPage();
  await reader.goto(status);
  await inspect(reader, 'status-declined');

  await pay.tryAgain();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await inspect(page, 'succeeded');
  await page.reload();
  await pay.hydrated();
  await inspect(page, 'succeeded-reloaded');
  await reader.goto(status);
  await inspect(reader, 'status-succeeded');
});

test('screens of an order that was charged twice', async ({ page, merchant, bank }) => {
  const order = await merchant.offer({ description: 'Кофемолка Bravo' });
  const pay = await new PayPage(page).open(order.url);
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await expect(pay.screens).toContainText('Деньги списаны один раз');
  await bank.chargesAgain(order);
  await expect.poll(async () => (await merchant.intent(order.payment_intent.id)).extra_charge).toBe('to_be_returned');
  // An open page asks when it is looked at again.
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await expect(pay.screens).toContainText('Заказ оплачен. По нему замечено ещё одно списание, его должны вернуть.');
  expect(await pay.root.innerText(), 'nothing that is seen promises one charge').not.toContain('один раз');
  await inspect(page, 'succeeded-twice');
});

test('screens in place of a page that cannot be made', async ({ page, merchant, watch }) => {
  watch.expects(/status of 400/);
  const order = await merchant.offer();
  await page.goto(order.url);
  const again = order.url.replace('?', '/again?');
  await page.evaluate((action) => {
    const form = Object.assign(document.createElement('form'), { method: 'post', action });
    document.body.append(form);
    form.submit();
  }, again);
  await expect(page.getByRole('heading')).toHaveText('Не получилось понять запрос');
  await inspect(page, 'message-bad-request');
  // The address bar, after a page with an error.
  await page.goto(again);
  await expect(page).toHaveURL(/\/status\?/);
});

test('screens of a result that is not known', async ({ page, merchant, bank, newDevice, watch }) => {
  watch.expects(/ERR_CONNECTION_RESET/);
  const order = await merchant.offer({ description: 'Кофемолка Bravo' });
  const reader = await (await newDevice()).newPage();
  const pay = await new PayPage(page).open(order.url);
  const questions = await Gate.on(page, NEWS);
  await page.route(SUBMIT, (route) => route.abort('connectionreset'), { times: 1 });
  await pay.pay(GOOD);
  await pay.expectState('checking');
  await inspect(page, 'checking');
  await questions.open();
  await expect(pay.note('Оплата до нас пока не дошла')).toBeVisible();
  await inspect(page, 'ready-unreached');

  await bank.fallsSilent(order.order_id, { delay_ms: 5500 });
  await pay.button.click();
  await expect.poll(async () => (await merchant.intent(order.payment_intent.id)).state).toBe('processing');
  await reader.goto(order.url);
  await new PayPage(reader).expectState('processing');
  await inspect(reader, 'processing');
  await pay.expectState('confirming');
  await expect(pay.screens.locator('.trail li').nth(1)).toBeVisible();
  await inspect(page, 'confirming');
  await page.goto(`${order.url}&lang=en`);
  await pay.hydrated();
  await inspect(page, 'confirming-en');
  await reader.goto(order.url.replace('?', '/status?'));
  await inspect(reader, 'status-confirming');
});

test('screens of a payment that a person looks at', async ({ page, newDevice, watch }) => {
  watch.expects(/ERR_/);
  const payonce = await Payonce.start('execute_s = 1\nreview_after_s = 1\nretry_max_s = 1\nlease_s = 30');
  const [merchant, bank] = [new Merchant(payonce.url), new Bank(payonce.bankUrl)];
  const order = await merchant.offer({ description: 'Кофемолка Bravo' });
  await bank.fallsSilent(order.order_id);
  await bank.breaks({ kind: 'error_500_before', on: 'list', times: 1000 });
  const pay = await new PayPage(page).open(order.url);
  await pay.pay(GOOD);
  await pay.expectState('needs_review');
  await pay.expectNoInvitation();
  await expect(pay.screens).toContainText('Передали человеку');
  await inspect(page, 'needs_review');
  await page.goto(`${order.url}&lang=en`);
  await pay.hydrated();
  await inspect(page, 'needs_review-en');
  const reader = await (await newDevice()).newPage();
  await reader.goto(order.url.replace('?', '/status?'));
  await inspect(reader, 'status-needs_review');
  await payonce.stop();
});

test('screens of a payment that cannot be passed to the bank, and of an address that is none', async ({ page, context, merchant, bank, watch }) => {
  watch.expects(/status of 422/);
  const order = await merchant.offer({ description: 'Кофемолка Bravo' });
  const pay = await new PayPage(page).open(order.url);
  await bank.turnsAway(order.order_id);
  const other = await new PayPage(await context.newPage()).open(order.url);
  await pay.pay(GOOD);
  for (const [tab, name] of [[pay, 'unreached'], [other, 'unreached-other-tab']] as const) {
    await tab.page.bringToFront();
    await expect(tab.screens).toContainText('Передать платёж в банк пока не удалось');
    await inspect(tab.page, name);
  }
  const waits = new PayPage(await context.newPage());
  await heldBack(waits.page);
  await waits.open(order.url);
  await expect(waits.screens.getByRole('heading')).toHaveText('Платёж принят и ждёт');
  await inspect(waits.page, 'held');
  await waits.page.unrouteAll({ behavior: 'ignoreErrors' });
  await waits.page.close();
  await page.bringToFront();
  await pay.screens.locator('form.mail').evaluate((form: HTMLFormElement) => (form.noValidate = true));
  await pay.screens.getByLabel('Почта, чтобы узнать результат').fill('<script>@b.com');
  await pay.screens.getByRole('button', { name: 'Написать мне' }).click();
  await expect(pay.screens).toContainText('Проверьте адрес');
  await inspect(page, 'unreached-no-email');
  await page.goto(`${order.url.replace('?', '/status?')}&lang=en`);
  await expect(page.locator('[data-screen=processing]')).toContainText('The payment could not be passed to the bank yet');

  const form = await merchant.offer();
  await pay.open(`${form.url}&lang=en`);
  await page.locator('input[name=email]').first().evaluate((input: HTMLInputElement) => (input.value = 'anna'));
  await page.getByRole('button', { name: "Pay on the bank's page" }).click();
  await expect(page.locator('[data-wrongs]')).toBeVisible();
  await expect(pay.email).toHaveValue('anna');
  await inspect(page, 'form-no-email');
});

test('screens of 3-D Secure, the bank included', async ({ page, merchant, newDevice }) => {
  const order = await merchant.offer({ description: 'Кофемолка Bravo' });
  const pay = await new PayPage(page).open(order.url);
  await pay.pay(ASKS_3DS);
  await pay.expectState('requires_action');
  await inspect(page, 'requires_action');
  await page.getByRole('button', { name: 'Заплатить по-другому' }).click();
  await expect(pay.note('банк отпустит этот не позже')).toBeVisible();
  await inspect(page, 'released');
  await page.goto(`${order.url}&lang=en`);
  await pay.hydrated();
  await inspect(page, 'requires_action-en');
  await page.goto(order.url);
  const reader = await (await newDevice()).newPage();
  await reader.goto(order.url.replace('?', '/status?'));
  await inspect(reader, 'status-requires_action');
  await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
  await page.waitForURL('**/confirm/**');
  await inspect(page, 'bank-confirm');
});

test('screens of money that is held, and of orders that are over', async ({ page, merchant, payonce, newDevice }) => {
  const held = await merchant.offer({ capture: 'manual' });
  const pay = await new PayPage(page).open(held.url);
  await pay.pay(GOOD);
  await pay.expectState('authorized');
  await inspect(page, 'authorized');

  const late = await merchant.offer({ expires_in: 1 });
  await expect.poll(async () => (await merchant.checkout(late.id)).status).toBe('expired');
  await pay.open(late.url);
  await inspect(page, 'expired');

  const closing = await merchant.offer({ expires_in: 3, return_url: `${payonce.url}/shop` });
  await pay.open(closing.url);
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  await expect(pay.screens.getByText('Заплатить за этот заказ здесь больше нельзя.')).toBeVisible();
  await inspect(page, 'declined-closed');

  const shared = await merchant.offer();
  const [first, second] = [pay, new PayPage(await (await newDevice()).newPage())];
  await Promise.all([first.open(shared.url), second.open(shared.url)]);
  await first.pay(GOOD);
  await first.expectState('succeeded');
  await second.pay(OTHER_GOOD);
  await second.expectState('succeeded');
  await expect(second.note('Использована карта •••• 4444')).toBeVisible();
  await inspect(second.page, 'succeeded-other-card');
});

test('screens before, without and after failed WebAssembly', async ({ page, merchant, newDevice, watch }) => {
  watch.expects(/ERR_FAILED|Failed to fetch/);
  const order = await merchant.offer({ description: 'Кофемолка Bravo', return_url: undefined });
  await page.route(WASM, (route) => route.abort());
  const pay = new PayPage(page);
  await page.goto(order.url);
  await expect(pay.root).toHaveAttribute('data-wasm', 'failed');
  await inspect(page, 'load-failed');

  const slow = await (await newDevice()).newPage();
  await slow.clock.install();
  const gate = await Gate.on(slow, WASM);
  await slow.goto(order.url);
  await gate.hasHeld(1);
  await slow.clock.fastForward(6000);
  const waiting = new PayPage(slow);
  await waiting.pay(GOOD);
  await expect(waiting.note('Страница ещё загружается')).toBeVisible();
  await inspect(slow, 'load-slow-held');

  // With scripts really off axe could not run either: these are only those of the page that are missing, and the style is told so.
  const plain = await (await newDevice()).newPage();
  const withoutScripting = (text: string) => text.replace(/\(scripting:\s*enabled\)/g, '(scripting: none)');
  await plain.route(/\.css/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: withoutScripting(await response.text()) });
  });
  await plain.route(order.url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: withoutScripting(await response.text()).replace(/<script[^]*?<\/script>/g, '') });
  });
  await plain.goto(order.url);
  await expect(plain.getByRole('heading', { name: 'Карту вводят на странице банка' })).toBeVisible();
  await inspect(plain, 'no-script');
});

test('screens of messages', async ({ page, merchant, payonce, watch }) => {
  watch.expects(/status of 40[14]/);
  const order = await merchant.offer();
  await page.goto(order.url.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')));
  await expect(page.locator('main')).toContainText('Ссылка неполная или устарела');
  await inspect(page, 'message-unauthorized');
  await page.goto(order.url.replace(order.id, `co_${'0'.repeat(32)}`));
  await expect(page.locator('main')).toContainText('Такой оплаты нет');
  await inspect(page, 'message-not-found');
  await page.goto(`${payonce.url}/pay/nonsense`);
  await expect(page.locator('main h1')).toBeVisible();
});

test('dark is dark, and light is light', async ({ page, merchant }) => {
  const order = await merchant.offer();
  const pay = await new PayPage(page).open(order.url);
  const brightness = () => pay.root.evaluate((card) => {
    const [red, green, blue] = getComputedStyle(card).backgroundColor.match(/\d+/g)!.map(Number);
    return (red + green + blue) / 3;
  });
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await brightness()).toBeLessThan(60);
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await brightness()).toBeGreaterThan(220);
});
