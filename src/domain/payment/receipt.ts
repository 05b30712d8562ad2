/** The texts of a receipt, shared by the receipt screen, the payment history and the mails. */
import type { Day } from '../day/day.ts';

export const RECEIPT_ITEM = 'Hustle Forge Closer, one year';

/** `HF-2026-3F9A1C2B`: the year and the first 8 characters of the payment's id. */
export const receiptNumber = (paymentId: string, paidOn: Day): string =>
  `HF-${paidOn.slice(0, 4)}-${paymentId.slice(0, 8).toUpperCase()}`;

/** `$24.00`; the code instead of the symbol for a currency without one in English. */
export const moneyLabel = (amountMinor: number, currency: string): string =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(amountMinor / 100);
