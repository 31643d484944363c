// Before WebAssembly, without it, with scripts off (N3), and with storage that is not there (R9).
import type { Page } from '@playwright/test';
import { GOOD, NO_FUNDS, OTHER_GOOD, last4 } from '../helpers/cards.ts';
import { GLUE, Gate, SUBMIT, WASM } from '../helpers/gate.ts';
import { PayPage } from '../helpers/pay_page.ts';
import { buy, buyInTheDark, expectShopSays } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

test.describe('with scripts off', () => {
  test.use({ javaScriptEnabled: false });

  test("from the order to the receipt by the bank's page alone (N3)", async ({ page, bank }) => {
    const { order, pay } = await buy(page);
    expect(await pay.shownSum()).toBe('1 500,00 ₽');
    await expect(pay.root).toContainText(order.id);
    await expect(page.getByRole('heading', { name: 'Карту вводят на странице банка' })).toBeVisible();
    for (const part of [pay.number, pay.expiry, pay.code, pay.button]) await expect(part).toBeHidden();
    await bank.expectNothing(order.id);

    await page.getByRole('button', { name: 'Заплатить на странице банка' }).click();
    await page.waitForURL('**/pay/*/status?**');
    await expect(page.locator('[data-payonce][data-state=requires_action]')).toBeVisible();
    await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
    await page.waitForURL(`${bank.url}/confirm/**`);
    await page.getByRole('button', { name: 'Подтвердить' }).click();
    await page.waitForURL('**/pay/*/status?**');
    // The page looks again by itself.
    await expect(page.locator('[data-payonce][data-state=succeeded]')).toBeVisible();
    await bank.expectOneCharge(order.id, '1500.00');
    await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
    await expectShopSays(page, 'paid');
  });

  test("Enter in the address goes to the bank's page, and the address with it (N3)", async ({ page, bank }) => {
    const { order, pay } = await buy(page);
    await pay.email.fill('boris@example.com');
    await pay.email.press('Enter');
    await page.waitForURL('**/pay/*/status?**');
    await page.goto(order.url);
    await pay.expectState('requires_action');
    await expect(pay.email).toHaveValue('boris@example.com');
    await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
    await page.getByRole('button', { name: 'Подтвердить' }).click();
    await expect(page.locator('[data-payonce]')).toHaveAttribute('data-state', 'succeeded');
    await bank.expectOneCharge(order.id, '1500.00');
  });

  test('a lost answer: the page says that it is being confirmed, looks again by itself, and shows the result (N2, N3)', async ({ page, bank, newDevice }) => {
    // Where an address can be typed, the page looks again every half minute.
    test.slow();
    const { order, pay } = await buy(page);
    await bank.breaks({ kind: 'lose_answer', order_id: order.id, times: 3 });
    await page.getByRole('button', { name: 'Заплатить на странице банка' }).click();
    await page.waitForURL('**/pay/*/status?**');
    await expect(page.locator('[data-payonce][data-state=confirming]')).toBeVisible();
    await pay.expectNoInvitation();
    await expect(pay.screens.locator('.trail li').first()).toContainText('Отправили в банк, ответа не было');
    await expect(pay.screens.locator('.trail time').first()).toContainText('UTC');
    await page.getByRole('button', { name: 'Проверить сейчас' }).click();
    await page.waitForURL('**/pay/*/status?**');
    await expect(page.locator('[data-payonce][data-state=requires_action]')).toBeVisible({ timeout: 40_000 });

    // The page with the form looks again by itself as well.
    const device = new PayPage(await (await newDevice({ javaScriptEnabled: false })).newPage());
    await device.page.goto(order.url);
    await device.expectState('requires_action');
    await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
    await page.getByRole('button', { name: 'Подтвердить' }).click();
    await device.expectState('succeeded');
    await bank.expectOneCharge(order.id, '1500.00');
  });

  test('paying another way says when the bank lets go, and the order can be left (N3)', async ({ page, bank }) => {
    const { order, pay } = await buy(page);
    await page.getByRole('link', { name: 'Вернуться в магазин' }).click();
    await expectShopSays(page, 'waiting');
    await page.goto(order.url.replace('?', '/status?'));
    await expect(page.getByText('Заказ ещё не оплачен')).toBeVisible();
    await bank.expectNothing(order.id);
    await page.goto(order.url);
    await page.getByRole('button', { name: 'Заплатить на странице банка' }).click();
    await page.waitForURL('**/pay/*/status?**');
    await page.getByRole('button', { name: 'Заплатить по-другому' }).click();
    await expect(pay.note('банк отпустит этот не позже')).toContainText(/не позже (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC/);
    await expect(page.getByRole('link', { name: 'Перейти на страницу банка' })).toBeVisible();
    expect(await bank.payments(order.id)).toHaveLength(1);
  });

  test('what another device did is shown, and trying again works without scripts (fault 61)', async ({ page, bank, newDevice }) => {
    const { order, pay } = await buy(page);
    const device = await new PayPage(await (await newDevice({ javaScriptEnabled: true })).newPage()).open(order.url);
    await device.pay(NO_FUNDS);
    await device.expectState('declined');
    await page.reload();
    await expect(pay.root).toHaveAttribute('data-state', 'declined');
    await page.getByRole('button', { name: 'Попробовать ещё раз' }).click();
    await expect(pay.root).toHaveAttribute('data-state', 'ready');

    await page.goto(order.url.replace('?', '/status?'));
    await device.page.reload();
    await device.hydrated();
    await device.pay(GOOD);
    await device.expectState('succeeded');
    await page.reload();
    await expect(pay.root).toHaveAttribute('data-state', 'succeeded');
    await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
  });

  test('a stale page without scripts that tries again after the payment is shown that it is paid (fault 61)', async ({ page, bank, newDevice }) => {
    const { order, pay } = await buy(page);
    const device = await new PayPage(await (await newDevice({ javaScriptEnabled: true })).newPage()).open(order.url);
    await device.pay(NO_FUNDS);
    await device.expectState('declined');
    await page.reload();
    await device.tryAgain();
    await device.pay(GOOD);
    await device.expectState('succeeded');

    await page.getByRole('button', { name: 'Попробовать ещё раз' }).click();
    await expect(pay.root).toHaveAttribute('data-state', 'succeeded');
    await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
  });
});

for (const [what, address] of [['WebAssembly', WASM], ['its script', GLUE]] as const) {
  test(`${what} does not load: the page says so, keeps what was typed, charges nothing, and pays once it loads (N3)`, async ({ page, bank, watch }) => {
    watch.expects(/ERR_FAILED|Failed to fetch|dynamically imported module/);
    await page.route(address, (route) => route.abort());
    const { order, pay } = await buy(page);
    await expect(pay.root).toHaveAttribute('data-wasm', 'failed');
    await expect(pay.note('Страница загрузилась не полностью')).toBeVisible();
    await expect(pay.live).toContainText('Страница загрузилась не полностью');
    await pay.fill(GOOD);
    const reloaded = page.waitForEvent('requestfailed');
    await pay.button.click();
    await reloaded;
    await expect(pay.root).toHaveAttribute('data-wasm', 'failed');
    await expectTyped(pay);
    await bank.expectNothing(order.id);
    expect(page.url()).toBe(order.url);

    await page.unroute(address);
    await pay.button.click();
    await pay.expectState('succeeded');
    await bank.expectOneCharge(order.id, '1500.00');
  });
}

test('WebAssembly does not load over a payment that is under way or over: nothing is said of pressing, and the result comes all the same (N2, N3)', async ({ page, bank, watch }) => {
  watch.expects(/ERR_FAILED|Failed to fetch/);
  const { order, pay } = await buyInTheDark(page, bank);
  await page.route(WASM, (route) => route.abort());
  await page.reload();
  await expect(pay.root).toHaveAttribute('data-wasm', 'failed');
  await expect(pay.note('может не измениться сама')).toBeVisible();
  await expect(pay.root.locator('[data-load]:visible')).toHaveCount(1);
  await pay.expectNoInvitation();
  await bank.recovers();
  await pay.expectState('succeeded');
  await expect(pay.root).toHaveAttribute('data-wasm', 'failed');
  await expect(pay.root.locator('[data-load]:visible'), 'a receipt is whole without').toHaveCount(0);
  await bank.expectOneCharge(order.id, '1500.00');
});

test('a slow download over a payment that is being confirmed says nothing of a form (N2)', async ({ page, bank }) => {
  const { pay } = await buyInTheDark(page, bank);
  await page.clock.install();
  const gate = await Gate.on(page, WASM);
  await page.reload();
  await gate.hasHeld(1);
  await page.clock.fastForward(6000);
  await expect(pay.root).toHaveAttribute('data-wasm', 'loading');
  await expect(pay.root.locator('[data-load]:visible')).toHaveCount(0);
  await gate.open();
  await pay.hydrated();
});

test("the bank's page is chosen while a press of the card's button waits for WebAssembly: the card is let go", async ({ page, bank }) => {
  const gate = await Gate.on(page, WASM);
  const { order, pay } = await buy(page);
  await pay.fill(GOOD);
  await pay.button.click();
  await expect(pay.root).toHaveAttribute('data-held', '');
  await page.getByRole('button', { name: 'Заплатить на странице банка' }).click();
  await page.waitForURL('**/pay/*/status?**');
  await gate.open();
  await expect(page.locator('[data-payonce][data-state=requires_action]')).toBeVisible();
  expect(await bank.charges(order.id)).toEqual([]);
});

test('WebAssembly is late: what was typed stays, and a press is held and let go once (N3)', async ({ page, bank }) => {
  const gate = await Gate.on(page, WASM);
  const { order, pay } = await buy(page);
  await expect(pay.root).toHaveAttribute('data-wasm', 'loading');
  await pay.number.pressSequentially('5555555555554444');
  await pay.expiry.pressSequentially('1234');
  await pay.code.pressSequentially('123');
  await pay.email.fill('shopper@example.com');
  let submits = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/submit')) submits += 1;
  });
  await pay.button.click();
  await pay.code.press('Enter');
  await pay.button.click();
  await expect(pay.root).toHaveAttribute('data-held', '');
  await bank.expectNothing(order.id);
  expect(page.url()).toBe(order.url);

  const submit = await Gate.on(page, SUBMIT);
  await gate.open();
  await submit.hasHeld(1);
  await pay.hydrated();
  await expect(pay.number).toHaveValue('5555555555554444');
  await expect(pay.expiry).toHaveValue('1234');
  await expect(pay.code).toHaveValue('123');
  await expect(pay.email).toHaveValue('shopper@example.com');
  await submit.open();
  await pay.expectState('succeeded');
  expect(submits).toBe(1);
  await bank.expectOneCharge(order.id, '1500.00');
});

test('WebAssembly arrives while the shopper types: nothing is lost, not even the place', async ({ page, bank }) => {
  const gate = await Gate.on(page, WASM);
  const { order, pay } = await buy(page);
  await pay.number.pressSequentially('55555555');
  await gate.open();
  await pay.hydrated();
  await expect(pay.number).toBeFocused();
  await pay.number.pressSequentially('55554444');
  await expect(pay.number).toHaveValue(/^5555 ?5555 ?5555 ?4444$/);
  await pay.expiry.fill('12/34');
  await pay.code.fill('123');
  await pay.button.click();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('a slow download is spoken of after five seconds', async ({ page, bank }) => {
  await page.clock.install();
  const gate = await Gate.on(page, WASM);
  const { order, pay } = await buy(page);
  await gate.hasHeld(1);
  await page.clock.fastForward(6000);
  await expect(pay.note('Страница ещё загружается')).toBeVisible();
  await expect(pay.live).toContainText('Страница ещё загружается');
  await pay.fill(GOOD);
  await gate.open();
  await pay.hydrated();
  await expect(pay.note('Страница ещё загружается')).toHaveCount(0);
  await expectTyped(pay);
  await bank.expectNothing(order.id);
});

for (const [what, block] of [
  ['throws when it is touched', throwWhenTouched],
  ['is full', throwWhenWritten],
] as const) {
  test(`storage that ${what}: the server knows enough (R9)`, async ({ page, context, bank }) => {
    await context.addInitScript(block);
    const { order, pay } = await buy(page);
    await pay.hydrated();
    await bank.breaks({ kind: 'delay', order_id: order.id, delay_ms: 1000 });
    await pay.pay(GOOD);
    await bank.expectFaultsMet(order.id);
    const second = new PayPage(await context.newPage());
    await second.page.goto(order.url);
    await Promise.all([pay.expectState('succeeded'), second.expectState('succeeded')]);
    await bank.expectOneCharge(order.id, '1500.00');
  });
}

test('a browser without AbortSignal.timeout pays as any other', async ({ page, context, bank }) => {
  await context.addInitScript(() => Reflect.deleteProperty(AbortSignal, 'timeout'));
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test("a browser that cannot tell which button was pressed keeps the plain form, and the bank's page (N3)", async ({ page, context, bank }) => {
  await context.addInitScript(() => Reflect.deleteProperty(SubmitEvent.prototype, 'submitter'));
  const { order, pay } = await buy(page);
  await expect(pay.root).toHaveAttribute('data-wasm', 'failed');
  for (const part of [pay.number, pay.expiry, pay.code, pay.button]) await expect(part).toBeHidden();
  await page.getByRole('button', { name: 'Заплатить на странице банка' }).click();
  await page.waitForURL('**/pay/*/status?**');
  await page.getByRole('link', { name: 'Перейти на страницу банка' }).click();
  await page.getByRole('button', { name: 'Подтвердить' }).click();
  await expect(page.locator('[data-payonce]')).toHaveAttribute('data-state', 'succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('fault 8: storage cleared in mid-payment changes nothing (R9)', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await bank.breaks({ kind: 'delay', order_id: order.id, delay_ms: 2000 });
  await pay.pay(GOOD);
  await bank.expectFaultsMet(order.id);
  await clearStorage(page);
  await page.reload();
  await pay.expectState('processing');
  await pay.expectNoInvitation();
  await pay.expectState('succeeded');
  await clearStorage(page);
  await page.goto(order.url);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test('fault 8: a cleared browser with a press under way cannot press a second time', async ({ page, bank, newDevice }) => {
  const { order } = await buyInTheDark(page, bank);
  const cleared = new PayPage(await (await newDevice()).newPage());
  await cleared.page.goto(order.url);
  await cleared.expectState('confirming');
  await cleared.expectNoInvitation();
  await bank.recovers();
  await cleared.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
  expect(last4(OTHER_GOOD)).not.toBe(last4(GOOD));
});

async function expectTyped(pay: PayPage): Promise<void> {
  await expect(pay.number).toHaveValue('5555555555554444');
  await expect(pay.expiry).toHaveValue('12 / 34');
  await expect(pay.code).toHaveValue('123');
}

async function clearStorage(page: Page): Promise<void> {
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await page.context().clearCookies();
}

function throwWhenTouched(): void {
  for (const name of ['localStorage', 'sessionStorage']) {
    Object.defineProperty(window, name, {
      get() {
        throw new DOMException('The operation is insecure.', 'SecurityError');
      },
    });
  }
}

function throwWhenWritten(): void {
  Storage.prototype.setItem = () => {
    throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
  };
}
