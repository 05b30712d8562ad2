/** What a receipt says, on the screen, on paper and by mail: one payment has one number and one way to write its amount. */
import type { Day } from '../day/day.ts';

export const RECEIPT_ITEM = 'Hustle Forge Closer, one year';

/** `HF-2026-3F9A1C2B`: the year of the payment and the beginning of its id. */
export const receiptNumber = (paymentId: string, paidOn: Day): string =>
  `HF-${paidOn.slice(0, 4)}-${paymentId.slice(0, 8).toUpperCase()}`;

/** `$24.00`; a currency without a sign in English is named by its code. */
export const moneyLabel = (amountMinor: number, currency: string): string =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(amountMinor / 100);
