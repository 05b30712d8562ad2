import { expect, test } from 'vitest';
import { guessCountry } from './likely-country.ts';

test.each([
  ['Europe/Berlin', ['de-DE'], 'DE'],
  // Many users outside the United States use American English.
  ['Europe/Berlin', ['en-US', 'en'], 'DE'],
  ['America/Argentina/Ushuaia', ['es'], 'AR'],
  ['America/New_York', ['en-US'], 'US'],
  // Deprecated names that browsers still report.
  ['Asia/Calcutta', ['en-IN'], 'IN'],
  ['Europe/Kiev', ['uk'], 'UA'],
])('guesses from %s and %j the country %s', (zone, languages, country) => {
  expect(guessCountry(zone, languages)).toBe(country);
});

test.each(['UTC', 'Etc/GMT+3', 'Europe/Nowhere', 'Europe', 'toString/x', '', undefined])(
  'uses the first language with a country if the time zone %j has none',
  (zone) => {
    expect(guessCountry(zone, ['fr', 'fr-BE', 'nl-NL'])).toBe('BE');
    expect(guessCountry(zone, ['zh-Hant-TW'])).toBe('TW');
    expect(guessCountry(zone, ['fr', 'no_such!language', 'es-419', 'en-EU'])).toBe(null);
    expect(guessCountry(zone, [])).toBe(null);
  },
);
