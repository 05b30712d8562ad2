/** A locale by its language tag, or null. Browsers report what the system is set to, such as `C`, which is not a tag. */
export function parseLocale(tag: string): Intl.Locale | null {
  try {
    return new Intl.Locale(tag);
  } catch {
    return null;
  }
}
