// The demo shop's own back office: the public API with its secret key.
import { randomUUID } from 'node:crypto';
import { expect } from '@playwright/test';

const SECRET_KEY = 'sk_test_demo';

export interface Checkout {
  id: string;
  status: string;
  order_id: string;
  amount: { value: string; currency: string };
  url: string;
  client_token: string;
  version: number;
  payment_intent: { id: string; submit_key: string; state: string };
}

export interface Intent {
  id: string;
  state: string;
  extra_charge?: string;
  previous_intent_id?: string;
  payment_method?: { last4?: string };
}

export class Merchant {
  constructor(private readonly url: string) {}

  /** A new order, or new terms for a known one. */
  async offer(terms: { order_id?: string; rubles?: number; [field: string]: unknown } = {}): Promise<Checkout> {
    const { order_id = `e2e-${randomUUID().slice(0, 13)}`, rubles = 1500, ...more } = terms;
    return this.ask('POST', '/v1/checkouts', {
      order_id,
      amount: { value: `${rubles}.00`, currency: 'RUB' },
      ...more,
    });
  }

  checkout(id: string): Promise<Checkout> {
    return this.ask('GET', `/v1/checkouts/${id}`);
  }

  intent(id: string): Promise<Intent> {
    return this.ask('GET', `/v1/payment_intents/${id}`);
  }

  private async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(this.url + path, {
      method,
      headers: {
        Authorization: `Bearer ${SECRET_KEY}`,
        ...(body !== undefined && { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect(answer.ok, `${method} ${path}: ${answer.status} ${text}`).toBe(true);
    return JSON.parse(text) as T;
  }
}
