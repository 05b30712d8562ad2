/** Reads PayPal's JSON without trusting its shape. A missing value gives undefined, null or [], never an exception. */

/** The value at the path, or undefined. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = Object.hasOwn(here, step) ? (here as Record<string | number, unknown>)[step] : undefined;
  }
  return here;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string | null {
  const found = valueAt(value, ...path);
  return typeof found === 'string' && found !== '' ? found : null;
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The address of the link with this `rel`. */
export const linkOf = (value: unknown, rel: string): string | null =>
  textAt(
    listAt(value, 'links').find((link) => valueAt(link, 'rel') === rel),
    'href',
  );

/** The id at the end of a link such as `…/v2/payments/captures/2GG279541U471931P`. */
export function idInLink(href: string | null, kind: 'captures' | 'orders' | 'refunds'): string | null {
  const [, found, id] = /\/(captures|orders|refunds)\/([A-Za-z0-9-]{1,64})$/.exec(href ?? '') ?? [];
  return found === kind ? (id ?? null) : null;
}
