/**
 * `node scripts/countries.ts > src/domain/countries.ts`: writes the table of countries anew. Their names come from the
 * language data (CLDR) inside Node, so the table says which edition it was made from; browsers carry others.
 */
import { pathToFileURL } from 'node:url';

/** Codes that the platform knows and that are no country: parts of one, groups of several, and test values. */
const NO_COUNTRY = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'QO', 'TA', 'UN', 'XA', 'XB', 'ZZ']);

/** States that are gone, as payers' older papers name them. The platform turns their codes into those of successors. */
const LEGACY: readonly Country[] = [
  { code: 'AN', name: 'Netherlands Antilles' },
  { code: 'CS', name: 'Serbia and Montenegro' },
];

type Country = { code: string; name: string };

export const CLDR = process.versions['cldr'] ?? 'unknown';

/** By name, as an English dictionary sorts them. */
export function countries(): Country[] {
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
  const current = letters
    .flatMap((first) => letters.map((second) => first + second))
    // A code that reads back as another one is a state that is gone.
    .filter((code) => !NO_COUNTRY.has(code) && new Intl.Locale(`und-${code}`).region === code)
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
