import { expect, test } from 'vitest';
import { likelyCountry } from './likely-country.ts';

test.each([
  ['Europe/Berlin', ['de-DE'], 'DE'],
  // English is used everywhere; the time zone is where somebody is.
  ['Europe/Berlin', ['en-US', 'en'], 'DE'],
  ['America/Argentina/Ushuaia', ['es'], 'AR'],
  ['America/New_York', ['en-US'], 'US'],
  // Older names that browsers report.
  ['Asia/Calcutta', ['en-IN'], 'IN'],
  ['Europe/Kiev', ['uk'], 'UA'],
])('%s with %j is %s', (zone, languages, country) => {
  expect(likelyCountry(zone, languages)).toBe(country);
});

test.each(['UTC', 'Etc/GMT+3', 'Europe/Nowhere', 'Europe', 'toString/x', '', undefined])(
  'where the time zone says nothing (%j), the first language with a country does',
  (zone) => {
    expect(likelyCountry(zone, ['fr', 'fr-BE', 'nl-NL'])).toBe('BE');
    expect(likelyCountry(zone, ['zh-Hant-TW'])).toBe('TW');
    expect(likelyCountry(zone, ['fr', 'no_such!language', 'es-419', 'en-EU'])).toBe(null);
    expect(likelyCountry(zone, [])).toBe(null);
  },
);
