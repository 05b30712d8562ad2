import { expect, test } from 'vitest';
import { parseLocale } from './locale.ts';

test.each([
  ['en-US', 'US'],
  ['de', undefined],
])('the locale of %s has its region', (tag, region) => expect(parseLocale(tag)?.region).toBe(region));

test.each(['C', 'en_US', '', 'POSIX-'])('"%s" is no locale', (tag) => expect(parseLocale(tag)).toBeNull());
