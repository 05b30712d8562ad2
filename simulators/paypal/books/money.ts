/** Amounts in the smallest unit of their currency, and the way PayPal writes them. */
export type Money = { readonly currency: string; readonly minor: number };

/** How PayPal writes an amount. */
export type MoneyBody = { currency_code: string; value: string };

/** The currencies that PayPal takes, with their decimals. */
const DECIMALS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'AUD BRL CAD CNY CZK DKK EUR HKD ILS MYR MXN NZD NOK PHP PLN GBP SGD SEK CHF THB USD'
      .split(' ')
      .map((currency) => [currency, 2]),
  ),
  HUF: 0,
  JPY: 0,
  TWD: 0,
};

export const isKnownCurrency = (currency: string): boolean => Object.hasOwn(DECIMALS, currency);

export const decimalsOf = (currency: string): number => DECIMALS[currency] ?? 2;

/** @param value digits with at most as many decimals as the currency has */
export const toMinor = (currency: string, value: string): number =>
  Math.round(Number(value) * 10 ** decimalsOf(currency));

export const moneyBody = ({ currency, minor }: Money): MoneyBody => ({
  currency_code: currency,
  value: (minor / 10 ** decimalsOf(currency)).toFixed(decimalsOf(currency)),
});

/** 3.49 % and 49 cents, PayPal's price for a payment within the United States; never more than the payment. */
export const feeOf = ({ currency, minor }: Money): number =>
  Math.min(minor, Math.round((minor * 349) / 10_000) + Math.round(0.49 * 10 ** decimalsOf(currency)));
