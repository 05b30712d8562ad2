/** `1 day`, `3,650 days`. */
export const pluralize = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
