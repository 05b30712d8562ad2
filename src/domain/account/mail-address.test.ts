import { expect, test } from 'vitest';
import { normalizeAddress, parseCompanyDomain } from './account.ts';

test.each([
  ['\u200Bada@example.com\u200B', 'ada@example.com'],
  ['\uFEFF ada@example.com\u00A0\u2060', 'ada@example.com'],
  ['\u202Aada@example.com\u202C', 'ada@example.com'],
  ['ada@b\u00FCcher.example', 'ada@xn--bcher-kva.example'],
  ['ada@bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
  ['ada@B\u00DCCHER.example', 'ada@xn--bcher-kva.example'],
  ['Ada@xn--bcher-kva.example', 'Ada@xn--bcher-kva.example'],
  ['ada@\u4F8B\u3048.\u30C6\u30B9\u30C8', 'ada@xn--r8jz45g.xn--zckzah'],
])('writes %j as %j, twice the same', (typed, expected) => {
  expect(normalizeAddress(typed)).toBe(expected);
  expect(normalizeAddress(expected)).toBe(expected);
});

test.each([
  'ada@\u212Aelvin.example',
  'ada@\uFF45xample.com',
  'ada@\u0130stanbul.example',
  'ada@exam\uFE0Fple.com',
  `${' '.repeat(600)}ada@example.com`,
  'a\u200Bda@example.com',
  'ada@ex\u200Bample.com',
  'ada@b\u00FCcher.example/path',
  'ada@b\u00FCcher.example:80',
  'ada@b\u00FCcher@example.com',
  '\u00E4da@example.com',
  'ada',
  '@',
  '',
])('leaves %j to be refused', (typed) => {
  expect(normalizeAddress(typed)).toBe(typed);
});

test.each([
  ['ana@acme.example', 'acme.example'],
  ['ACME.example', 'acme.example'],
  ['\u200Bacme.example\u00A0', 'acme.example'],
  ['\uFEFFana@acme.example\u2060', 'acme.example'],
  ['B\u00DCCHER.example', 'xn--bcher-kva.example'],
  ['ana@bu\u0308cher.example', 'xn--bcher-kva.example'],
])('reads the company of %j as %j', (typed, expected) => {
  expect(parseCompanyDomain(typed)).toBe(expected);
});

test.each([
  '',
  'acme',
  '@',
  'ana@',
  'acme..example',
  'ac me.example',
  'exam\uFE0Fple.com',
  '\u212Aelvin.example',
  'a.b/c',
])('reads no company in %j', (typed) => {
  expect(parseCompanyDomain(typed)).toBeNull();
});
