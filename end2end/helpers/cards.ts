// The bank's test cards, by what they do.

export interface Card {
  number: string;
  expiry?: string;
  code?: string;
}

export const GOOD: Card = { number: '5555555555554444' };
export const OTHER_GOOD: Card = { number: '4111111111111111' };
export const MIR: Card = { number: '2200000000000004' };
export const ASKS_3DS: Card = { number: '5555555555554477' };
export const NO_FUNDS: Card = { number: '5555555555554600' };
export const EXPIRED: Card = { number: '5555555555554592' };
export const DECLINED: Card = { number: '5555555555554535' };

export function last4(card: Card): string {
  return card.number.slice(-4);
}
