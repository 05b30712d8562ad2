/** Converts between PayPal's amounts, texts such as "24.00", and our whole cents, without floating point. */

/** Formats whole cents with two decimals: every currency that we charge in has two. */
export function toAmountText(minor: number): string {
  if (!Number.isSafeInteger(minor) || minor < 0) throw new RangeError('an amount is a whole number of cents');
  const digits = String(minor).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Null for anything but a plain amount with at most two decimals. */
export function toMinor(text: unknown): number | null {
  const [, whole, decimals = ''] = (typeof text === 'string' && /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(text)) || [];
  return whole === undefined ? null : Number(whole + decimals.padEnd(2, '0'));
}
