// What the page promises whatever happens: it is light, and a card is nobody's business but the bank's.
import { brotliCompressSync, constants } from 'node:zlib';
import type { Request } from '@playwright/test';
import { GOOD, NO_FUNDS } from '../helpers/cards.ts';
import { PayPage } from '../helpers/pay_page.ts';
import { buy } from '../helpers/shop.ts';
import { expect, test } from '../helpers/test.ts';

/** HTML and CSS: one flight of packets, so that a form is there after one round trip. */
const MAX_FORM_BYTES = 14_000;

test('HTML and CSS of a usable form weigh at most 14 kB in brotli', async ({ page, merchant, payonce }, info) => {
  const order = await merchant.offer({ description: 'Кофемолка Bravo' });
  const html = await (await fetch(order.url, { headers: { 'Accept-Language': 'ru' } })).text();
  const path = /<link rel="stylesheet" href="([^"]+)"/.exec(html)![1];
  const css = await (await fetch(payonce.url + path)).text();
  const sizes = [html, css].map((text) => brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text) },
  }).length);
  info.annotations.push({ type: 'size', description: `HTML ${sizes[0]} B, CSS ${sizes[1]} B in brotli 11` });
  expect(sizes[0] + sizes[1]).toBeLessThanOrEqual(MAX_FORM_BYTES);
  await page.goto(order.url);
});

test('a card number reaches the bank and nobody else: no request to us, no storage, no file, no log', async ({ page, context, payonce, bank }) => {
  const toUs: Request[] = [];
  let atTheBank = 0;
  context.on('request', (request) => {
    if (request.url().startsWith(payonce.url)) toUs.push(request);
    if (request.url() === `${bank.url}/v3/tokens` && request.method() === 'POST') atTheBank += 1;
  });
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.pay({ ...NO_FUNDS, code: '987' });
  await pay.expectState('declined');
  await pay.tryAgain();
  await pay.pay({ ...GOOD, code: '987' });
  await pay.expectState('succeeded');
  expect(atTheBank).toBe(2);
  expect(toUs.length).toBeGreaterThan(5);

  const secrets = /5\D{0,2}5\D{0,2}5\D{0,2}5\D{0,2}5\D{0,2}5\D{0,2}5\D{0,2}5\D{0,2}5\D{0,2}5\D{0,2}5\D{0,2}5\D{0,2}4\D{0,2}(4\D{0,2}4\D{0,2}4|6\D{0,2}0\D{0,2}0)|\b987\b/;
  for (const request of toUs) {
    const sent = `${request.url()} ${JSON.stringify(await request.allHeaders())} ${request.postData() ?? ''}`;
    expect(sent, `${request.method()} ${request.url()}`).not.toMatch(secrets);
  }
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  expect(kept).not.toMatch(secrets);
  expect(kept, 'a finished payment is forgotten').not.toContain(order.checkoutId);
  for (const { name, text } of await payonce.everythingWritten()) {
    expect(text.includes(GOOD.number) || text.includes(NO_FUNDS.number), `${name} has the card`).toBe(false);
  }
  await bank.expectOneCharge(order.id, '1500.00');
});

test('storage holds ids and the key of the intent, and nothing else (attack 35)', async ({ page, context, merchant }) => {
  const { order, pay } = await buy(page);
  await pay.hydrated();
  await pay.fill(GOOD);
  const { payment_intent } = await merchant.checkout(order.checkoutId);
  const { origins, cookies } = await context.storageState();
  expect(cookies).toEqual([]);
  const entries = origins.flatMap((origin) => origin.localStorage);
  expect(entries.map(({ name, value }) => [name, JSON.parse(value)])).toEqual([
    [`payonce:${order.checkoutId}`, { intent: payment_intent.id, submit_key: payment_intent.submit_key }],
  ]);
});

test('the card fields have no name, and a form that is posted all the same carries no card', async ({ page, merchant, bank }) => {
  const order = await merchant.offer();
  const pay = await new PayPage(page).open(order.url);
  await pay.fill(GOOD);
  for (const field of [pay.number, pay.expiry, pay.code]) expect(await field.getAttribute('name')).toBeNull();
  const posted = page.waitForRequest((request) => request.method() === 'POST' && request.isNavigationRequest());
  await pay.root.locator('form[data-do=pay]').evaluate((form: HTMLFormElement) => form.submit());
  expect((await posted).postData()).not.toContain('5555');
  await pay.hydrated();
  await pay.expectState('ready');
  await bank.expectNothing(order.order_id);
});

test('a script without the nonce does not run, and is noticed (attack 32)', async ({ page, merchant, watch }) => {
  watch.expects(/policy/i);
  const order = await merchant.offer();
  await page.route(order.url, async (route) => {
    const response = await route.fetch();
    const intruder = '<script>window.intruder = true</script><img src="data:," onerror="window.intruder = true">';
    await route.fulfill({ response, body: (await response.text()).replace('</main>', `${intruder}</main>`) });
  });
  const noticed = ['script-src-elem', 'script-src-attr'].map((directive) => page.waitForEvent('console', {
    predicate: (message) => message.text().startsWith(`policy violated: ${directive}`),
  }));
  await new PayPage(page).open(order.url);
  await Promise.all(noticed);
  expect(await page.evaluate(() => 'intruder' in window)).toBe(false);
});

test('markup in what is bought is text (attack 31)', async ({ page, merchant }) => {
  const description = '<img src=x onerror="document.title=1"><b>Кофе</b> & "чай"';
  const order = await merchant.offer({ description });
  const pay = await new PayPage(page).open(order.url);
  await expect(pay.root.locator('h1')).toHaveText(description);
  await expect(page.locator('img, b:text("Кофе")')).toHaveCount(0);
  await page.goto(order.url.replace('?', '/status?'));
  await expect(page.locator('h1')).toHaveText(description);
});
