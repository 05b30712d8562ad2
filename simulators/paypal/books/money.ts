/** An amount in the smallest unit of its currency. */
export type Money = { readonly currency: string; readonly minor: number };

/** PayPal's representation of an amount. */
export type MoneyBody = { currency_code: string; value: string };

/** PayPal's currencies with their number of decimals. */
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

/** @param value a decimal number with at most the currency's number of decimals */
export const toMinor = (currency: string, value: string): number =>
  Math.round(Number(value) * 10 ** decimalsOf(currency));

export const moneyBody = ({ currency, minor }: Money): MoneyBody => ({
  currency_code: currency,
  value: (minor / 10 ** decimalsOf(currency)).toFixed(decimalsOf(currency)),
});

/** PayPal's fee for a payment within the United States: 3.49 % plus 49 cents, at most the payment itself. */
export const calculateFee = ({ currency, minor }: Money): number =>
  Math.min(minor, Math.round((minor * 349) / 10_000) + Math.round(0.49 * 10 ** decimalsOf(currency)));
