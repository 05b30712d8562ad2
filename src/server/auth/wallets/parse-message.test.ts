import fc from 'fast-check';
import * as Siwe from 'ox/Siwe';
import { describe, expect, test } from 'vitest';
import { unicodeText } from '../../../../tests/support/unicode-text.ts';
import { AuthError } from '../http/errors.ts';
import { parseWalletMessage, type Chain } from './parse-message.ts';

const ETHEREUM_ADDRESS = '0x742d35Cc6635C0532925a3b8D53d6e8b3f56ddF1';
const SOLANA_ADDRESS = '2fcY5S7yqdyBAVUEvB4CLD9bFbkbnNV9yUM6DEVGHJLT';

const ethereumText = (...fields: string[]): string =>
  [`app.example wants you to sign in with your Ethereum account:`, ETHEREUM_ADDRESS, '', '', ...fields].join('\n');
const solanaText = (...fields: string[]): string =>
  [`app.example wants you to sign in with your Solana account:`, SOLANA_ADDRESS, '', ...fields].join('\n');

const FIELDS = [
  'URI: https://app.example/login',
  'Version: 1',
  'Chain ID: 1',
  'Nonce: abcdef0123456789',
  'Issued At: 2026-11-22T10:00:00.000Z',
];
const SOLANA_FIELDS = FIELDS.with(2, 'Chain ID: solana:mainnet');

const problemOf = (chain: Chain, text: string): string | null => {
  try {
    parseWalletMessage(chain, text);
    return null;
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
    return error.message;
  }
};

test('reads an Ethereum message', () => {
  const text = ethereumText(...FIELDS, 'Expiration Time: 2026-11-22T11:00:00+01:00', 'Resources:', '- ipfs://x');
  expect(parseWalletMessage('ethereum', text)).toEqual({
    domain: 'app.example',
    address: ETHEREUM_ADDRESS,
    statement: '',
    uri: 'https://app.example/login',
    chainId: '1',
    nonce: 'abcdef0123456789',
    issuedAt: new Date('2026-11-22T10:00:00Z'),
    expirationTime: new Date('2026-11-22T10:00:00Z'),
    notBefore: null,
  });
});

test('reads a Solana message without statement, chain id and nonce', () => {
  const text = solanaText('Version: 1', 'URI: https://app.example/', 'Issued At: 2026-11-22T10:00:00Z');
  expect(parseWalletMessage('solana', text)).toMatchObject({ address: SOLANA_ADDRESS, chainId: '', nonce: '' });
});

test('takes a line that looks like a field for the statement when a blank line follows', () => {
  const text = ethereumText(...FIELDS).replace('\n\n\n', '\n\nNonce: 0000000000\n\n');
  expect(parseWalletMessage('ethereum', text)).toMatchObject({
    statement: 'Nonce: 0000000000',
    nonce: 'abcdef0123456789',
  });
});

describe('rejects', () => {
  const swap = (index: number, line: string): string => ethereumText(...FIELDS.with(index, line));
  const header = (line: string): string => ethereumText(...FIELDS).replace(/^.*/, line);
  test.each([
    ['a single line', 'app.example wants you to sign in with your Ethereum account:', 'message needs at least 6 lines'],
    ['the header of another chain', header('app.example wants you to sign in with your Solana account:'), 'first line'],
    ['a domain with a path', header('a.b/c wants you to sign in with your Ethereum account:'), 'domain in first line'],
    ['a domain with a user', header('a@b.c wants you to sign in with your Ethereum account:'), 'domain in first line'],
    ['a padded domain', header(' a.b wants you to sign in with your Ethereum account:'), 'domain in first line'],
    ['an address with 39 digits', ethereumText(...FIELDS).replace('ddF1', 'ddF'), 'wallet address'],
    ['an address with a space', ethereumText(...FIELDS).replace('ddF1', 'ddF1 '), 'wallet address'],
    ['a third line with text', ethereumText(...FIELDS).replace('ddF1\n', 'ddF1\nx'), 'third line must be empty'],
    ['another version', swap(1, 'Version: 2'), 'Version value is not supported, expected 1 got "2"'],
    ['no URI', ethereumText(...FIELDS.slice(1)), 'URI is not specified'],
    ['a relative URI', swap(0, 'URI: /login'), 'URI is not valid'],
    ['no chain id', ethereumText(...FIELDS.toSpliced(2, 1)), 'Chain ID is not valid'],
    ['a negative chain id', swap(2, 'Chain ID: -1'), 'Chain ID is not valid'],
    ['no time of issue', ethereumText(...FIELDS.slice(0, 4)), 'Issued At is not specified'],
    [
      'a day that does not exist',
      swap(4, 'Issued At: 2026-02-30T10:00:00Z'),
      'Issued At is not a valid ISO8601 timestamp',
    ],
    ['a time without zone', swap(4, 'Issued At: 2026-02-20T10:00:00'), 'Issued At is not a valid ISO8601 timestamp'],
    [
      'a bad expiry',
      ethereumText(...FIELDS, 'Expiration Time: soon'),
      'Expiration Time is not a valid ISO8601 timestamp',
    ],
    ['a bad start', ethereumText(...FIELDS, 'Not Before: now'), 'Not Before is not a valid ISO8601 timestamp'],
    [
      'an expiry before the issue',
      ethereumText(...FIELDS, 'Expiration Time: 2026-11-22T09:59:59Z'),
      'Issued At is after',
    ],
    ['a second nonce', ethereumText(...FIELDS, 'Nonce: 0000000000'), 'unparsable line at index 9'],
    [
      'a field after the resources',
      ethereumText(...FIELDS, 'Resources:', '- a:b', 'Not Before: x'),
      'line at index 11',
    ],
    ['an unknown field', ethereumText(...FIELDS, 'Scope: all'), 'unparsable line at index 9'],
    ['a blank line between fields', ethereumText(...FIELDS.toSpliced(2, 0, '')), 'unparsable line at index 6'],
    ['a line break at the end', `${ethereumText(...FIELDS)}\n`, 'unparsable line at index 9'],
    ['carriage returns', ethereumText(...FIELDS).replaceAll('\n', '\r\n'), 'first line'],
    ['a tab in a field', swap(3, 'Nonce:\tabcdef0123456789'), 'unparsable line at index 7'],
    [
      'a control character in the statement',
      ethereumText(...FIELDS).replace('\n\n\n', '\n\nSign\x1bin\n\n'),
      'index 3',
    ],
    ['a padded field', swap(3, 'Nonce: abcdef0123456789 '), 'unparsable line at index 7'],
    ['a field in another case', swap(3, 'nonce: abcdef0123456789'), 'unparsable line at index 7'],
  ])('%s', (_, text, problem) => expect(problemOf('ethereum', text)).toContain(problem));

  test('a Solana address outside of base58 and an unknown network', () => {
    expect(problemOf('solana', solanaText(...SOLANA_FIELDS).replace('2fcY', '0fcY'))).toBe(
      'siws: wallet address is not in base58 format',
    );
    expect(problemOf('solana', solanaText(...FIELDS.with(2, 'Chain ID: moon')))).toBe('siws: Chain ID is not valid');
  });
});

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,10}$/);
const time = fc.date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });
const siweMessage = fc.record(
  {
    domain: label.map((host) => `${host}.example`),
    address: fc.constant(ETHEREUM_ADDRESS as `0x${string}`),
    statement: fc.stringMatching(/^[ -~]{1,40}$/),
    uri: label.map((path) => `https://app.example/${path}`),
    version: fc.constant('1' as const),
    chainId: fc.integer({ min: 1, max: 1_000_000 }),
    nonce: fc.stringMatching(/^[a-zA-Z0-9]{8,32}$/),
    issuedAt: time,
    requestId: label,
    resources: fc.array(
      label.map((name) => `https://example.com/${name}`),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ['domain', 'address', 'uri', 'version', 'chainId', 'nonce', 'issuedAt'] },
);
/** In lower case, because ox rejects a mixed-case address whose checksum (EIP-55) is wrong. */
const writeSiwe = (message: Siwe.Message): string =>
  Siwe.createMessage({ ...message, address: ETHEREUM_ADDRESS.toLowerCase() as `0x${string}` });

describe('arbitrary messages', () => {
  test('of ox are read with every field', () => {
    fc.assert(
      fc.property(siweMessage, (message) => {
        const { domain, uri, nonce, statement = '', chainId, issuedAt } = message;
        expect(parseWalletMessage('ethereum', writeSiwe(message))).toMatchObject({
          ...{ domain, uri, nonce, statement, chainId: String(chainId), issuedAt },
        });
      }),
      { numRuns: 200 },
    );
  });

  const edit = fc.record({
    line: fc.nat({ max: 15 }),
    kind: fc.constantFrom('drop', 'repeat', 'swap', 'insert', 'append'),
    text: fc.oneof(
      fc.constantFrom('', ' ', '\r', 'Nonce: 0000000000', 'URI: https://evil.example/', 'Chain ID: 7', 'Resources:'),
      fc.constantFrom('- https://evil.example/', 'Issued At: 2026-01-01T00:00:00Z', 'Version: 1', 'Not Before: x'),
      fc.string({ maxLength: 12 }),
    ),
  });
  type Edit = { line: number; kind: string; text: string };
  const applyEdits = (text: string, edits: Edit[]): string => {
    let lines = text.split('\n');
    for (const { line, kind, text: added } of edits) {
      const index = line % lines.length;
      const current = lines[index]!;
      if (kind === 'drop') lines = lines.toSpliced(index, 1);
      if (kind === 'repeat') lines = lines.toSpliced(index, 0, current);
      if (kind === 'insert') lines = lines.toSpliced(index, 0, added);
      if (kind === 'append') lines = lines.with(index, current + added);
      if (kind === 'swap') lines = lines.with(index, lines.at(index - 1)!).with(index - 1, current);
      if (lines.length === 0) return '';
    }
    return lines.join('\n');
  };

  test('that were edited are rejected, or read as ox reads them', () => {
    let accepted = 0;
    fc.assert(
      fc.property(siweMessage, fc.array(edit, { minLength: 1, maxLength: 3 }), (message, edits) => {
        const text = applyEdits(writeSiwe(message), edits);
        if (problemOf('ethereum', text) !== null) return;
        accepted += 1;
        const [ours, theirs] = [parseWalletMessage('ethereum', text), Siwe.parseMessage(text)];
        // ox leaves a field undefined if the fields have another order.
        for (const field of ['domain', 'address', 'uri', 'nonce', 'issuedAt'] as const) {
          if (theirs[field] !== undefined) expect(ours[field]).toEqual(theirs[field]);
        }
      }),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  test.each(['ethereum', 'solana'] as const)('of any text for %s are rejected with an error of the API', (chain) => {
    const text = chain === 'ethereum' ? ethereumText(...FIELDS) : solanaText(...SOLANA_FIELDS);
    const anyText = fc.oneof(
      unicodeText(),
      fc.array(edit, { maxLength: 4 }).map((edits) => applyEdits(text, edits)),
    );
    fc.assert(
      fc.property(anyText, (input) => {
        const problem = problemOf(chain, input);
        expect(problem === null || /^siw[es]: /.test(problem)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
