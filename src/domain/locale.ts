/** Null for an invalid language tag: browsers report the locale of the system, which may be `C`. */
export function parseLocale(tag: string): Intl.Locale | null {
  try {
    return new Intl.Locale(tag);
  } catch {
    return null;
  }
}
