import { expect, test } from 'vitest';
import { parseSamlKey } from './key-file.ts';

test.each([
  ['', 'it holds no unencrypted private key'],
  [
    '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----',
    'it holds no unencrypted private key',
  ],
  ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', 'it holds no certificate'],
])('a key file is refused: %s', (text, reason) => {
  expect(() => parseSamlKey(text)).toThrow(reason);
});
