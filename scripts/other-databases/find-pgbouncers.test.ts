import { expect, test } from 'vitest';
import { readPgBouncerVersion } from '../../tests/support/servers/pgbouncer.ts';

test.each([
  ['1.9.0', '1.9', false],
  ['1.20.1', '1.20', false],
  ['1.21.0', '1.21', true],
  ['1.100.0', '1.100', true],
  ['2.0.0', '2.0', true],
])('PgBouncer %s has version %s and tracks prepared statements: %s', (printed, version, hasStatements) => {
  expect(readPgBouncerVersion(['echo', 'PgBouncer', printed])).toEqual({ version, hasStatements });
});
