// The form itself: mistakes, keyboard, languages, new terms.
import { randomUUID } from 'node:crypto';
import { GOOD, NO_FUNDS, OTHER_GOOD, last4 } from '../helpers/cards.ts';
import { Gate, NEWS } from '../helpers/gate.ts';
import { PayPage, plain } from '../helpers/pay_page.ts';
import { inspect } from '../helpers/screens.ts';
import { buy, expectShopSays } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

test('mistakes: a focused summary with links to the fields, and every answer is kept', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.button.click();
  await pay.expectState('invalid');
  const summary = pay.root.getByRole('group');
  await expect(summary).toBeFocused();
  await expect(summary.getByRole('link')).toHaveText([
    'Номер карты: Введите номер карты',
    'Срок действия: Введите срок действия',
    'Код CVC: Введите код',
  ]);

  await pay.fill({ number: '5555 5555 5555 4445', expiry: '12 / 20', code: '12' });
  await pay.email.fill('shopper@example.com');
  await pay.button.click();
  await expect(summary).toBeFocused();
  const links = summary.getByRole('link');
  await expect(links).toHaveText([
    'Номер карты: В номере опечатка',
    'Срок действия: Срок карты истёк',
    'Код CVC: Три или четыре цифры',
  ]);
  for (const [place, field] of [pay.number, pay.expiry, pay.code].entries()) {
    await expect(field).toHaveAttribute('aria-invalid', 'true');
    await links.nth(place).click();
    await expect(field).toBeFocused();
  }
  await expect(pay.number).toHaveAccessibleDescription('В номере опечатка');
  await expect(pay.number).toHaveValue('5555 5555 5555 4445');
  await expect(pay.expiry).toHaveValue('12 / 20');
  await expect(pay.code).toHaveValue('12');
  await expect(pay.email).toHaveValue('shopper@example.com');
  await bank.expectNothing(order.id);

  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('the receipt goes to the address in the form; one that is none is pointed out, and none at all is fine', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.fill(GOOD);
  await pay.email.fill('anna@');
  await pay.button.click();
  await pay.expectState('invalid');
  await expect(pay.email).toHaveAttribute('aria-invalid', 'true');
  await pay.root.getByRole('group').getByRole('link').click();
  await expect(pay.email).toBeFocused();
  await expect(pay.email).toHaveValue('anna@');
  await bank.expectNothing(order.id);

  await pay.email.fill('anna@example.com');
  const submit = page.waitForRequest('**/submit');
  await pay.button.click();
  expect((await submit).postDataJSON()).toMatchObject({ customer: { email: 'anna@example.com' } });
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('the whole way by keyboard alone', async ({ page, bank }) => {
  await page.goto('/shop');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'К содержимому' })).toBeFocused();
  await page.keyboard.press('Enter');
  // Past the closed drawer.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await expect(page.locator('form[data-good=bravo] button[name=buy]')).toBeFocused();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/pay/**');
  const pay = await new PayPage(page).hydrated();
  expect(await pay.shownSum()).toBe('3 000,00 ₽');

  for (const [field, text] of [[pay.number, '5555555555554444'], [pay.expiry, '1234'], [pay.code, '123'], [pay.email, 'a@example.com']] as const) {
    await page.keyboard.press('Tab');
    await expect(field).toBeFocused();
    await page.keyboard.type(text);
  }
  await expect(pay.number).toHaveValue('5555 5555 5555 4444');
  await expect(pay.expiry).toHaveValue('12 / 34');
  await page.keyboard.press('Tab');
  await expect(pay.button).toBeFocused();
  await page.keyboard.press('Enter');
  await pay.expectState('succeeded');
  await expect(pay.screens.getByRole('heading', { name: 'Оплачено' })).toBeFocused();
  await expect(pay.live).toContainText('Оплачено');
  const id = plain(await pay.screens.innerText()).match(/[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}/)![0];
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Вернуться в магазин' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expectShopSays(page, 'paid');
  await bank.expectOneCharge(id, '3000.00');
});

test('spaces come by themselves, and correcting in the middle is left alone', async ({ page }) => {
  const { pay } = await buy(page);
  await pay.hydrated();
  await pay.number.pressSequentially('555555555555444');
  await expect(pay.number).toHaveValue('5555 5555 5555 444');
  await pay.number.press('Home');
  await pay.number.press('Delete');
  await expect(pay.number).toHaveValue(/^555 ?5? ?/);
  await pay.number.press('4');
  const caret = await pay.number.evaluate((input: HTMLInputElement) => input.selectionStart);
  expect(caret, 'the caret stays where the shopper works').toBe(1);
  await pay.number.press('End');
  await pay.number.press('4');
  expect((await pay.number.inputValue()).replace(/ /g, '')).toBe('4555555555554444');
});

test('every request to pay is of the terms that were shown: a changed order is shown anew and paid anew (fault 65)', async ({ page, bank, merchant, watch }) => {
  watch.expects(/status of 409/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const changed = await merchant.offer({ order_id: order.id, rubles: 1700, description: 'Кофемолка Bravo с гравировкой' });
  expect(changed.id).toBe(order.checkoutId);
  await pay.pay(GOOD);
  await pay.expectState('changed');
  await expect(pay.screens).toContainText('Деньги не списаны');
  expect(plain(await pay.screens.innerText())).toContain('1 700,00 ₽');
  await bank.expectNothing(order.id);

  await pay.screens.getByText('Продолжить').click();
  await pay.expectState('ready');
  expect(plain(await pay.button.innerText())).toBe('Оплатить 1 700,00 ₽');
  expect(await pay.shownSum()).toBe('1 700,00 ₽');
  await expect(pay.root.locator('h1')).toHaveText('Кофемолка Bravo с гравировкой');
  await expect(pay.number).toHaveValue(/5555/);
  await bank.expectNothing(order.id);
  await pay.button.click();
  await pay.expectState('succeeded');
  const receipt = plain(await pay.screens.innerText());
  expect(receipt).toContain('1 700,00 ₽');
  expect(receipt).toContain(changed.payment_intent.id);
  await bank.expectOneCharge(order.id, '1700.00');
});

test('terms changed twice while a tab shows the first ones: only the last are charged (fault 65)', async ({ page, bank, merchant, newDevice, watch }) => {
  watch.expects(/status of 409/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await merchant.offer({ order_id: order.id, rubles: 1700 });
  const device = await new PayPage(await (await newDevice()).newPage()).open(order.url);
  expect(await device.shownSum()).toBe('1 700,00 ₽');
  await pay.pay(GOOD);
  await pay.expectState('changed');
  await merchant.offer({ order_id: order.id, rubles: 1900 });
  await expect(pay.screens.locator('[data-slot=new-amount]')).toHaveText(/1\s900,00/);
  await pay.expectState('changed');
  await expect(pay.screens.getByRole('heading'), 'it is to be read before a press').toBeFocused();
  await expect(pay.number, 'what was typed stays').toHaveValue(/5555/);
  await device.expectState('changed');
  await device.screens.getByText('Продолжить').click();
  await device.pay(OTHER_GOOD);
  await device.expectState('succeeded');
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1900.00', last4(OTHER_GOOD));
});

test('the order is changed while the form is filled in: it is told before the press, and what was typed stays (fault 65)', async ({ page, bank, merchant }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.fill(GOOD);
  await pay.email.fill('anna@example.com');
  await merchant.offer({ order_id: order.id, rubles: 1700 });
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await pay.expectState('changed');
  await expect(pay.screens).toContainText('Магазин изменил сумму или условия');
  expect(plain(await pay.screens.innerText())).toContain('1 700,00 ₽');
  await pay.screens.getByText('Продолжить').click();
  await pay.expectState('ready');
  await expect(page.getByRole('form'), 'the keyboard goes on from there').toBeFocused();
  expect(await pay.shownSum()).toBe('1 700,00 ₽');
  await expect(pay.number).toHaveValue(/5555/);
  await expect(pay.email).toHaveValue('anna@example.com');
  await pay.button.click();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1700.00');
});

test('the order is changed between two tries: the new sum is told before anything can be pressed (fault 65)', async ({ page, bank, merchant, watch }) => {
  watch.expects(/ERR_FAILED/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  // It would hear of the change by itself, and be read anew.
  await page.route(NEWS, (route) => route.abort());
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  await merchant.offer({ order_id: order.id, rubles: 1700 });
  await page.getByRole('button', { name: 'Попробовать ещё раз' }).click();
  await pay.expectState('changed');
  await expect(pay.screens.locator('[data-slot=new-amount]')).toHaveText(/1\s700,00/);
  await pay.screens.getByText('Продолжить').click();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1700.00');
});

test('an answer about the try before that comes late takes nothing from the form of the next one (fault 65)', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  const before = new RegExp(`/v1/payment_intents/${await pay.root.getAttribute('data-intent')}$`);
  const late = await Gate.on(page, before);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await late.hasHeld(1);
  await pay.tryAgain();
  await expect(page.getByRole('form')).toBeFocused();
  await pay.fill(GOOD);
  const answered = page.waitForResponse(before);
  await late.open();
  await (await answered).finished();
  await page.evaluate(() => new Promise((next) => setTimeout(next, 100)));
  await expect(pay.number).toHaveValue(/5555/);
  await pay.button.click();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test("a browser whose clock is ahead pays: whether a card is over is not its to say", async ({ page, bank }) => {
  await page.clock.setFixedTime(new Date('2040-01-15'));
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay({ ...GOOD, expiry: '01 / 20' });
  await pay.expectState('invalid');
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('what was said of a form that was sent is not said of what comes after it, and it is not sent again (R10, fault 65)', async ({ page, bank, merchant, watch }) => {
  watch.expects(/status of 409/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await merchant.offer({ order_id: order.id, rubles: 1700 });
  await page.getByRole('button', { name: 'Заплатить на странице банка' }).click();
  const said = pay.note('магазин изменил заказ. Деньги не списаны');
  await expect(said).toBeVisible();
  await pay.hydrated();
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  await expect(said).toHaveCount(0);
  await pay.tryAgain();
  await expect(said).toHaveCount(0);
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await expect(said).toHaveCount(0);
  await bank.expectOneCharge(order.id, '1700.00');
});

test('the largest sum that there is stays on the narrowest screen', async ({ page, merchant }) => {
  const order = await merchant.offer({ amount: { value: '90071992547409.93', currency: 'RUB' } });
  await new PayPage(page).open(order.url);
  await inspect(page, 'largest-sum');
});

test('an order whose time ran out cannot be paid, and says so', async ({ page, bank, merchant }) => {
  const checkout = await merchant.offer({ order_id: `late-${randomUUID().slice(0, 8)}`, expires_in: 1 });
  await expect.poll(async () => (await merchant.checkout(checkout.id)).status).toBe('expired');
  await page.goto(checkout.url);
  const pay = new PayPage(page);
  await pay.expectState('expired');
  await expect(pay.screens).toContainText('Время на оплату вышло');
  await expect(page.getByRole('button')).toHaveCount(0);
  await bank.expectNothing(checkout.order_id);
});

test('an order whose time runs out under an open form is not charged (fault 66)', async ({ page, bank, merchant, watch }) => {
  watch.expects(/status of 409/);
  const checkout = await merchant.offer({ expires_in: 4 });
  const pay = await new PayPage(page).open(checkout.url);
  // It would hear of the end by itself.
  await Gate.on(page, NEWS);
  await pay.fill(GOOD);
  await expect.poll(async () => (await merchant.checkout(checkout.id)).status).toBe('expired');
  await pay.button.click();
  await pay.expectState('expired');
  await bank.expectNothing(checkout.order_id);
});

test.describe('languages', () => {
  for (const [how, options, lang] of [
    ['Accept-Language: ru', { locale: 'ru-RU' }, 'ru'],
    ['Accept-Language: en', { locale: 'en-GB' }, 'en'],
    ['neither known', { locale: 'de-DE' }, 'ru'],
  ] as const) {
    test(`by ${how}`, async ({ newDevice }) => {
      const page = await (await newDevice(options)).newPage();
      await page.goto('/shop');
      if (how !== 'neither known') await expect(page.locator('html')).toHaveAttribute('lang', lang);
      await page.locator('form[data-good=bravo] button[name=buy]').click();
      await page.waitForURL('**/pay/**');
      await expect(page.locator('html')).toHaveAttribute('lang', how === 'neither known' ? /ru|en/ : lang);
      const pay = await new PayPage(page).hydrated();
      if (lang === 'en') expect(plain(await pay.button.innerText())).toBe('Pay ₽1,500.00');
    });
  }

  test('the other language takes nothing from the form', async ({ page, bank }) => {
    const { order, pay } = await buy(page);
    await pay.hydrated();
    await pay.fill(GOOD);
    await pay.email.fill('anna@example.com');
    await page.getByRole('link', { name: 'English' }).click();
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    expect(plain(await pay.button.innerText())).toBe('Pay ₽1,500.00');
    await expect(page).toHaveTitle(/^Pay ₽1,500.00/);
    await expect(page.getByLabel('Card number')).toHaveValue(/5555/);
    await expect(pay.email).toHaveValue('anna@example.com');
    await expect(page).toHaveURL(/lang=en/);
    await page.getByRole('link', { name: 'Русский' }).click();
    await expect(page.locator('html')).toHaveAttribute('lang', 'ru');
    await pay.button.click();
    await pay.expectState('succeeded');
    await expect(pay.screens).not.toContainText(/paid/i);
    await bank.expectOneCharge(order.id, '1500.00');
  });

  test('by ?lang=, over Accept-Language, from the shelf to the receipt and back', async ({ page, bank }) => {
    await page.goto('/shop?lang=en');
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    await page.locator('form[data-good=kettle] button[name=buy]').click();
    await page.waitForURL('**/pay/**');
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    const pay = await new PayPage(page).hydrated();
    expect(await pay.shownSum()).toBe('₽3,490.00');
    await pay.button.click();
    await pay.expectState('invalid');
    await expect(page.getByRole('group')).toContainText('Card number');

    await page.getByRole('link', { name: 'Русский' }).click();
    await expect(page.locator('html')).toHaveAttribute('lang', 'ru');
    await pay.hydrated();
    expect(await pay.shownSum()).toBe('3 490,00 ₽');
    await page.getByRole('link', { name: 'English' }).click();
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    await pay.hydrated();
    await pay.pay(GOOD);
    await pay.expectState('succeeded');
    await expect(pay.screens).not.toContainText(/[а-яё]/i);
    const id = /[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(await pay.screens.innerText())![0];
    await page.getByRole('link', { name: 'Back to the shop' }).click();
    await expectShopSays(page, 'paid');
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    await bank.expectOneCharge(id, '3490.00');
  });
});
