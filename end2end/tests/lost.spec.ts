// Requests and answers that are lost, held up or repeated on the way: the page asks, and nothing is paid twice.
import type { Page } from '@playwright/test';
import { comeBackFromCache, countSubmits } from '../helpers/browser.ts';
import { GOOD, NO_FUNDS, last4 } from '../helpers/cards.ts';
import { Gate, NEWS, SUBMIT, TOKENS, loseAnswer } from '../helpers/gate.ts';
import { PayPage } from '../helpers/pay_page.ts';
import { buy } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

test('the answer to the submit is lost: the page asks, and shows what really happened (R10)', async ({ page, bank, watch }) => {
  watch.expects(/ERR_CONNECTION_RESET/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await page.route(SUBMIT, loseAnswer);
  await payUnanswered(pay);
  await bank.expectOneCharge(order.id, '1500.00');
});

// woocommerce-gateway-stripe#2477: the site answered 500, and the retry had another key.
test('the site answers 500 after the payment was taken: the page asks, and nothing is sent under another key (R1, R10)', async ({ page, bank, watch, merchant }) => {
  watch.expects(/status of 500/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const keys: (string | undefined)[] = [];
  await page.route(SUBMIT, async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    await route.fetch();
    await route.fulfill({ status: 500, body: '' });
  });
  await payUnanswered(pay);
  expect(keys).toEqual([(await merchant.checkout(order.checkoutId)).payment_intent.submit_key]);
  await bank.expectOneCharge(order.id, '1500.00');
});

for (const status of [403, 404, 408, 413, 429]) {
  test(`somebody on the way answers ${status} after the payment was taken: it proves nothing, and the page comes to the truth by itself (R1, R10)`, async ({ page, bank, watch }) => {
    watch.expects(new RegExp(`status of ${status}`));
    const { order, pay } = await buy(page);
    await pay.hydrated();
    const said = await everythingSaid(page);
    const submits = countSubmits(page);
    await page.route(SUBMIT, async (route) => {
      await route.fetch();
      await route.fulfill({ status, contentType: 'text/html', body: `<h1>${status}</h1>` });
    });
    await payUnanswered(pay);
    expect(submits()).toBe(1);
    expect(await said()).not.toMatch(/не списан|Нажмите «Оплатить» ещё раз/);
    await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
  });
}

test('a new try is refused by somebody on the way: not said to be the last one, and the next press makes it', async ({ page, bank, watch }) => {
  watch.expects(/status of 429/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay(NO_FUNDS);
  await pay.expectState('declined');
  const tries = '**/v1/checkouts/*/payment_intents';
  await page.route(tries, (route) => route.fulfill({ status: 429, contentType: 'text/html', body: '' }), { times: 1 });
  await pay.screens.getByRole('button', { name: 'Попробовать ещё раз' }).click();
  await expect(pay.note('Не получилось начать новую попытку')).toBeFocused();
  await pay.tryAgain();
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00', last4(GOOD));
});

test('fault 5: a proxy that repeats the submit, at once and after the answer, charges nothing more (R2)', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const later: Promise<number>[] = [];
  await page.route(SUBMIT, async (route) => {
    const [response, twin] = await Promise.all([route.fetch(), route.fetch()]);
    later.push(route.fetch().then((replay) => replay.status()));
    expect(twin.status()).toBeLessThan(300);
    await route.fulfill({ response });
  });
  await pay.pay(GOOD);
  await pay.expectState('succeeded');
  expect(await Promise.all(later)).toEqual([200]);
  await bank.expectOneCharge(order.id, '1500.00');
  expect(await bank.payments(order.id)).toHaveLength(1);
});

test('the submit itself is lost: the page says so, and the same payment is sent again (R1)', async ({ page, bank, watch, merchant }) => {
  watch.expects(/ERR_CONNECTION_RESET/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await page.route(SUBMIT, (route) => route.abort('connectionreset'), { times: 1 });
  await pay.pay(GOOD);
  await pay.expectState('ready');
  await expect(pay.note('Оплата до нас пока не дошла')).toBeFocused();
  await expect(pay.number).toHaveValue(/5555/);
  await bank.expectNothing(order.id);
  await pay.button.click();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
  const { payment_intent } = await merchant.checkout(order.checkoutId);
  expect(await pay.root.getAttribute('data-intent')).toBe(payment_intent.id);
});

test('no answer for ten seconds is a state of the page, not of the payment (R10)', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await page.route(SUBMIT, async (route) => {
    await route.fetch();
    // Neither answered nor refused: the page gives up by itself.
  });
  const questions = await Gate.on(page, NEWS);
  await pay.pay(GOOD);
  await pay.expectState('submitting');
  await pay.expectState('checking');
  await questions.hasHeld(1);
  await questions.open();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('the bank cannot be asked for a token: nothing was sent, and the next press pays', async ({ page, bank, watch }) => {
  watch.expects(/ERR_FAILED/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const submits = countSubmits(page);
  await page.route(TOKENS, (route) => route.abort(), { times: 1 });
  await pay.pay(GOOD);
  await expect(pay.note('Не удалось связаться с банком')).toBeFocused();
  await pay.expectState('ready');
  expect(submits()).toBe(0);
  await pay.button.click();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

// vercel/shop#83.
test('fault 12: a spinner from the back-forward cache comes to life again', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const gate = await Gate.on(page, SUBMIT);
  await pay.pay(GOOD);
  await gate.hasHeld(1);
  await comeBackFromCache(page);
  await pay.expectState('ready');
  await expect(pay.note('Оплата до нас пока не дошла')).toBeVisible();
  await pay.button.click();
  await gate.hasHeld(2);
  await gate.open();
  await pay.expectState('succeeded');
  await bank.expectOneCharge(order.id, '1500.00');
});

test('a submit that arrives after the form came back takes the form away (R10)', async ({ page, bank }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const gate = await Gate.on(page, SUBMIT);
  await pay.pay(GOOD);
  await gate.hasHeld(1);
  await comeBackFromCache(page);
  await expect(pay.note('Оплата до нас пока не дошла')).toBeVisible();
  await bank.expectNothing(order.id);
  await gate.open();
  await pay.expectState('succeeded');
  await expect(pay.button).toBeHidden();
  await bank.expectOneCharge(order.id, '1500.00');
});

test('the next press fails at the bank while a lost one is on its way: nothing is said of the money, and the page comes to the truth (R10)', async ({ page, bank, watch }) => {
  watch.expects(/ERR_/);
  const { order, pay } = await buy(page);
  await pay.hydrated();
  const gate = await Gate.on(page, SUBMIT);
  await pay.pay(GOOD);
  await gate.hasHeld(1);
  await comeBackFromCache(page);
  await expect(pay.note('Оплата до нас пока не дошла')).toBeVisible();
  const said = await everythingSaid(page);
  await page.route(TOKENS, async (route) => {
    // Long enough for a question to come due meanwhile: its answer is not for a page that submits.
    await page.waitForRequest(NEWS);
    await route.abort();
  }, { times: 1 });
  await pay.button.click();
  await expect(pay.note('Оплата до нас пока не дошла')).toBeVisible();
  await gate.open();
  await pay.expectState('succeeded');
  expect(await said()).not.toMatch(/не списаны|ничего не отправ/i);
  await bank.expectOneCharge(order.id, '1500.00');
});

/** Pays, whatever becomes of the answer: the page asks, says so meanwhile, and comes to the truth. */
async function payUnanswered(pay: PayPage): Promise<void> {
  const questions = await Gate.on(pay.page, NEWS);
  await pay.pay(GOOD);
  await pay.expectState('checking');
  await pay.expectNoInvitation();
  await questions.hasHeld(1);
  await questions.open();
  await pay.expectState('succeeded');
}

/** All that the page shows from now on, however briefly. */
async function everythingSaid(page: Page): Promise<() => Promise<string>> {
  const said = await page.locator('[data-payonce]').evaluateHandle((root: HTMLElement) => {
    const texts = new Set<string>();
    new MutationObserver(() => texts.add(root.innerText)).observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    return texts;
  });
  return () => said.evaluate((texts) => [...texts].join('\n'));
}
