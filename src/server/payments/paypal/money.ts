/** PayPal's amounts are texts such as "24.00"; ours are whole cents. No floating point on the way, in either direction. */

/** Two decimals, as every currency has in which we ask for money. */
export function toAmountText(minor: number): string {
  if (!Number.isSafeInteger(minor) || minor < 0) throw new RangeError('an amount is a whole number of cents');
  const digits = String(minor).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** null for whatever is not a plain amount with at most two decimals. */
export function toMinor(text: unknown): number | null {
  const [, whole, decimals = ''] = (typeof text === 'string' && /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(text)) || [];
  return whole === undefined ? null : Number(whole + decimals.padEnd(2, '0'));
}
