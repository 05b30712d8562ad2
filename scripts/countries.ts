/**
 * `node scripts/countries.ts > src/domain/payment/countries.ts`: regenerates the table of countries. The names come from the CLDR
 * data bundled with Node; the table states the CLDR edition.
 */
import { pathToFileURL } from 'node:url';

/** Region codes that are not countries: parts of countries, groups of countries, and test values. */
const NON_COUNTRIES = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'ZZ']);

/** Former states, which payers' older documents may name. `Intl` maps their codes to those of the successors. */
const LEGACY: readonly Country[] = [
  { code: 'AN', name: 'Netherlands Antilles' },
  { code: 'CS', name: 'Serbia and Montenegro' },
];

type Country = { code: string; name: string };

export const CLDR = process.versions['cldr'] ?? 'unknown';

/** Sorted by name in English collation order. */
export function countries(): Country[] {
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
  const current = letters
    .flatMap((first) => letters.map((second) => first + second))
    // `Intl.Locale` maps the code of a former state to another code.
    .filter((code) => !NON_COUNTRIES.has(code) && new Intl.Locale(`und-${code}`).region === code)
    .flatMap((code) => ({ code, name: names.of(code) ?? '' }))
    .filter(({ name }) => name !== '');
  return [...current, ...LEGACY].sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

export function countriesModule(): string {
  const rows = countries().map(({ code, name }) => `  { code: '${code}', name: '${name}' },\n`);
  return `/**
 * The countries that somebody can pay from, two legacy ones among them. Written by \`scripts/countries.ts\` from CLDR ${CLDR}:
 * do not edit. It is a table because browsers carry different editions of the names, and turn legacy codes into others.
 */
type Country = { readonly code: string; readonly name: string };

export const COUNTRIES: readonly Country[] = [
${rows.join('')}];
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(countriesModule());
