// The sandbox bank from behind the counter: what it really charged, and what is to go wrong next.
// Asked from here and never from a page: the bank refuses whoever has an Origin.
import { expect } from '@playwright/test';
import type { Checkout } from './merchant.ts';

export interface Payment {
  id: string;
  status: 'pending' | 'waiting_for_capture' | 'succeeded' | 'canceled';
  paid: boolean;
  amount: { value: string; currency: string };
  payment_method?: { card?: { last4: string } };
  metadata: Record<string, string>;
}

export interface Fault {
  kind: string;
  order_id?: string;
  times?: number;
  delay_ms?: number;
  on?: string;
}

export class Bank {
  constructor(readonly url: string) {}

  /** Everything the bank keeps for an order, whatever became of it. */
  async payments(orderId: string): Promise<Payment[]> {
    const answer = await fetch(`${this.url}/ledger`);
    expect(answer.ok).toBe(true);
    const { payments } = (await answer.json()) as { payments: Payment[] };
    return payments.filter((payment) => payment.metadata.order_id === orderId);
  }

  /** What took money. */
  async charges(orderId: string): Promise<Payment[]> {
    return (await this.payments(orderId)).filter((payment) => payment.paid);
  }

  /** One charge, of this sum, with this card: the whole point. */
  async expectOneCharge(orderId: string, sum: string, last4?: string): Promise<void> {
    const charges = await this.charges(orderId);
    expect(charges.map((charge) => charge.amount.value), `charges of order ${orderId} in the bank's ledger`).toEqual([sum]);
    if (last4) expect(charges[0].payment_method?.card?.last4).toBe(last4);
  }

  /** No object at all: the bank was not even asked. */
  async expectNothing(orderId: string): Promise<void> {
    expect(await this.payments(orderId), `payments of order ${orderId} in the bank's ledger`).toEqual([]);
  }

  /** Takes money once more for an order that is paid, as a key that the bank forgot would. */
  async chargesAgain({ order_id, amount, id, payment_intent }: Checkout): Promise<void> {
    const post = async (path: string, body: unknown) => {
      const answer = await fetch(this.url + path, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'Idempotence-Key': `again-${order_id}`,
          Authorization: `Basic ${btoa('100500:test_demo')}`,
        },
        body: JSON.stringify(body),
      });
      expect(answer.ok, path).toBe(true);
      return answer.json();
    };
    const card = { number: '5555555555554444', expiry_month: '12', expiry_year: '2034', cvc: '123' };
    const { token } = await post('/v3/tokens', { card });
    const metadata = { order_id, checkout_id: id, payment_intent_id: payment_intent.id };
    await post('/v3/payments', { amount, capture: true, payment_token: token, metadata });
  }

  /** Arms a fault. */
  async breaks(fault: Fault): Promise<void> {
    const answer = await fetch(`${this.url}/faults`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(fault),
    });
    expect(answer.ok, await answer.text()).toBe(true);
  }

  /** Nothing is heard of the order: so many answers are lost, and whoever asks finds nothing. Without `times`, for as long as a test looks. */
  async fallsSilent(orderId: string, { times = 100, delay_ms }: { times?: number; delay_ms?: number } = {}): Promise<void> {
    await this.breaks({ kind: 'lose_answer', order_id: orderId, times, ...(delay_ms && { delay_ms }) });
    await this.breaks({ kind: 'not_found', order_id: orderId, on: 'get', times: 1000 });
  }

  /** Nothing gets through to it: every request is turned away unread. */
  async turnsAway(orderId: string): Promise<void> {
    await this.breaks({ kind: 'unauthorized', order_id: orderId, times: 1000 });
  }

  /** Nothing goes wrong any more. */
  async recovers(): Promise<void> {
    expect((await fetch(`${this.url}/faults`, { method: 'DELETE' })).ok).toBe(true);
  }

  /** Until every fault armed for the order has met its request: the request is at the bank. */
  async expectFaultsMet(orderId: string): Promise<void> {
    await expect.poll(async () => {
      const { faults } = (await (await fetch(`${this.url}/faults`)).json()) as { faults: Fault[] };
      return faults.filter((fault) => fault.order_id === orderId).length;
    }, { intervals: [50] }).toBe(0);
  }
}
