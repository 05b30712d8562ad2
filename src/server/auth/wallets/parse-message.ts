/**
 * Parses the text that a wallet shows and signs: EIP-4361 for Ethereum and its counterpart for Solana
 * (docs/specification/api.md 30).
 *
 * Threat: parser differentials. A wallet warns of a foreign domain by its own reading of the text, so a lenient parser
 * could find another domain, address or nonce in it. This parser reads whole lines from the first to the last: it
 * accepts each field once and rejects padding, control characters and unknown lines. `Siwe.parseMessage` of ox searches
 * the text for each field, so it is not used.
 */
import { invalidRequest } from '../http/errors.ts';

export type Chain = 'ethereum' | 'solana';

export type WalletMessage = {
  /** The host, with its port if there is one, as the wallet shows it. */
  domain: string;
  address: string;
  /** An empty text stands for a missing field. */
  statement: string;
  uri: string;
  /** Empty if a Solana message names none. */
  chainId: string;
  /** An empty text stands for a missing field. */
  nonce: string;
  issuedAt: Date;
  expirationTime: Date | null;
  notBefore: Date | null;
};

type Dialect = { prefix: 'siwe' | 'siws'; header: string; address: RegExp; addressError: string; chainId: RegExp };

const DIALECTS: Readonly<Record<Chain, Dialect>> = {
  ethereum: {
    prefix: 'siwe',
    header: ' wants you to sign in with your Ethereum account:',
    address: /^0x[0-9a-fA-F]{40}$/,
    addressError: 'wallet address is not a valid Ethereum address',
    chainId: /^[1-9]\d{0,15}$/,
  },
  solana: {
    prefix: 'siws',
    header: ' wants you to sign in with your Solana account:',
    address: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/,
    addressError: 'wallet address is not in base58 format',
    /** A network's name or its CAIP-2 id; a message may lack it. */
    chainId: /^(?:(?:solana:)?(?:mainnet|testnet|devnet|localnet)|solana:[-_a-zA-Z0-9]{1,32}|)$/,
  },
};

const DOMAIN =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*|\[[0-9a-f:]+\])(?::\d{1,5})?$/i;
const FIELDS = new Set([
  'URI',
  'Version',
  'Chain ID',
  'Nonce',
  'Issued At',
  'Expiration Time',
  'Not Before',
  'Request ID',
]);
const MIN_LINES = 6;

/** Throws `validation_failed` with the texts of supabase/auth. */
export function parseWalletMessage(chain: Chain, text: string): WalletMessage {
  const dialect = DIALECTS[chain];
  const fail = (problem: string): never => {
    throw invalidRequest(`${dialect.prefix}: ${problem}`);
  };
  const lines = text.split('\n');
  if (lines.length < MIN_LINES) fail('message needs at least 6 lines');
  const [header = '', address = '', blank] = lines;
  if (!header.endsWith(dialect.header)) fail(`message first line does not end in "${dialect.header}"`);
  const domain = header.slice(0, -dialect.header.length);
  if (!DOMAIN.test(domain)) fail('domain in first line of message is not valid');
  if (!dialect.address.test(address)) fail(dialect.addressError);
  if (blank !== '') fail('third line must be empty');

  const { statement, firstField } = readStatement(lines);
  const unreadable = (index: number): never => fail(`encountered unparsable line at index ${index}`);
  // oxlint-disable-next-line no-control-regex -- control characters could hide a part of the text
  if (/[\0-\x1f\x7f]/.test(statement)) unreadable(3);
  const fields = readFields(lines, firstField, unreadable);

  const version = fields.get('Version') ?? '';
  if (version !== '1') fail(`Version value is not supported, expected 1 got "${version}"`);
  const chainId = fields.get('Chain ID') ?? '';
  if (!dialect.chainId.test(chainId)) fail('Chain ID is not valid');
  const uri = fields.get('URI') ?? fail('URI is not specified');
  if (!URL.canParse(uri)) fail('URI is not valid');
  const readTime = (name: string): Date | null => {
    const value = fields.get(name);
    return value === undefined ? null : (parseTime(value) ?? fail(`${name} is not a valid ISO8601 timestamp`));
  };
  const issuedAt = readTime('Issued At') ?? fail('Issued At is not specified');
  const [expirationTime, notBefore] = [readTime('Expiration Time'), readTime('Not Before')];
  if (expirationTime && issuedAt > expirationTime) fail('Issued At is after Expiration Time');
  if (expirationTime && notBefore && notBefore > expirationTime) fail('Not Before is after Expiration Time');
  const nonce = fields.get('Nonce') ?? '';
  return { domain, address, statement, uri, chainId, nonce, issuedAt, expirationTime, notBefore };
}

/** EIP-4361 keeps two blank lines where there is no statement; Solana wallets keep one. */
function readStatement(lines: readonly string[]): { statement: string; firstField: number } {
  const [, , , fourth = '', fifth] = lines;
  if (fourth === '') return { statement: '', firstField: 4 };
  return fifth === '' ? { statement: fourth, firstField: 5 } : { statement: '', firstField: 3 };
}

function readFields(
  lines: readonly string[],
  firstField: number,
  unreadable: (index: number) => never,
): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  let isInResources = false;
  for (const [index, line] of lines.entries()) {
    if (index < firstField) continue;
    if (isInResources) {
      if (!/^- [\x21-\x7e]+$/.test(line)) unreadable(index);
    } else if (line === 'Resources:' || line === 'Resources') {
      // auth-js writes Solana's list without the colon.
      isInResources = true;
    } else {
      const [, name = '', value = ''] = /^([A-Za-z ]+): ([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/.exec(line) ?? [];
      if (!FIELDS.has(name) || fields.has(name)) unreadable(index);
      fields.set(name, value);
    }
  }
  return fields;
}

const RFC_3339 =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Null for another format and for a day that the calendar lacks, which `Date` would move to the next month. */
function parseTime(text: string): Date | null {
  const day = RFC_3339.exec(text)?.[1];
  if (day === undefined) return null;
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null;
  return new Date(text);
}

/** Verifies the signatures of one chain. */
export type Signer = {
  /** Throws `validation_failed`. */
  parseSignature(text: string): Uint8Array;
  verify(signed: { address: string; text: string; signature: Uint8Array }): boolean;
  /** Returns the same text for every spelling of a wallet's address. */
  normalizeAddress(address: string): string;
};
