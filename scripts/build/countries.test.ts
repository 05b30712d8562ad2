import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COUNTRIES } from '#domain/payment/countries.ts';
import { CLDR, countries, countriesModule } from './countries.ts';
import { ROOT } from '../project.ts';

const CODES = COUNTRIES.map(({ code }) => code);

test('the table matches the output of the script', async () => {
  const written = await readFile(join(ROOT, 'src/domain/payment/countries.ts'), 'utf8');
  // Another Node version may bundle another CLDR edition: then only the codes are compared.
  if (written.includes(`from CLDR ${CLDR}:`)) expect(countriesModule()).toBe(written);
  expect(
    countries()
      .map(({ code }) => code)
      .toSorted(),
  ).toEqual(CODES.toSorted());
});

test('lists every country once, including the legacy countries', () => {
  expect(new Set(CODES).size).toBe(CODES.length);
  expect(new Set(COUNTRIES.map(({ name }) => name)).size).toBe(CODES.length);
  for (const code of CODES) expect(code).toMatch(/^[A-Z]{2}$/);
  expect(COUNTRIES).toContainEqual({ code: 'AN', name: 'Netherlands Antilles' });
  expect(COUNTRIES).toContainEqual({ code: 'CS', name: 'Serbia and Montenegro' });
  expect(COUNTRIES).toContainEqual({ code: 'DE', name: 'Germany' });
  for (const group of ['EU', 'UN', 'ZZ', 'XA']) expect(CODES).not.toContain(group);
});
