/** Sign-in with a wallet (docs/specification/api.md 30), with real keys and the real client. */
import { base58 } from '@scure/base';
import * as Hex from 'ox/Hex';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../support/fuzz-budget.ts';
import { setUpAuthWorld, startAuthWorld, type WireBody } from '../fixture.ts';
import { messageOf, newEthereumWallet, newSolanaWallet, type MessageFields, type Wallet } from './wallet.ts';

const LISTED = 'https://partner.example';
const world = setUpAuthWorld({ AUTH_ETHEREUM: 'on', AUTH_SOLANA: 'on', AUTH_REDIRECT_URLS: `${LISTED}/**` });

const CHAINS = [
  ['Ethereum', newEthereumWallet],
  ['Solana', newSolanaWallet],
] as const;

const newNonce = async (): Promise<string> => (await world.request('GET', '/web3/nonce')).body.nonce;

const minutesFromNow = (minutes: number): Date => new Date(world.clock.now().getTime() + minutes * 60_000);

const writeMessage = async (wallet: Wallet, fields: Partial<MessageFields> = {}): Promise<string> =>
  messageOf(wallet, {
    uri: `${world.config.publicUrl}/login`,
    issuedAt: minutesFromNow(0),
    ...fields,
    nonce: fields.nonce ?? (await newNonce()),
  });

const send = (body: WireBody, headers?: Record<string, string>) =>
  world.request('POST', '/token?grant_type=web3', { body, ...(headers && { headers }) });

const signIn = (wallet: Wallet, message: string, signature = wallet.sign(message)) =>
  send({ chain: wallet.chain, message, signature, gotrue_meta_security: {} });

/** Status and description of an OAuth-style error. */
async function refusal(wallet: Wallet, fields: Partial<MessageFields>): Promise<unknown[]> {
  const { status, body } = await signIn(wallet, await writeMessage(wallet, fields));
  return [status, body.error, body.error_description];
}

describe('the real client signs in', () => {
  const options = async () => ({ url: `${world.config.publicUrl}/login#top`, nonce: await newNonce() });

  test('with an Ethereum wallet that it asks for the signature', async () => {
    const wallet = newEthereumWallet();
    const { url, nonce } = await options();
    const request = async ({ method, params }: { method: string; params?: unknown }) => {
      if (method === 'eth_requestAccounts') return [wallet.address];
      if (method === 'eth_chainId') return '0x1';
      return wallet.sign(Hex.toString((params as [Hex.Hex])[0]));
    };
    const { data, error } = await world
      .client()
      .auth.signInWithWeb3({
        chain: 'ethereum',
        wallet: { address: wallet.address, request, on: () => {}, removeListener: () => {} } as never,
        statement: 'Sign in to Hustle Forge',
        options: { url, signInWithEthereum: { nonce } },
      });
    expect(error).toBeNull();
    expect(data.user).toMatchObject({
      email: '',
      phone: '',
      is_anonymous: false,
      app_metadata: { provider: 'web3', providers: ['web3'] },
      identities: [{ provider: 'web3', id: `web3:ethereum:${wallet.address.toLowerCase()}` }],
    });
    const claims = await world.client().auth.getClaims(data.session!.access_token);
    expect(claims.data?.claims).toMatchObject({ aal: 'aal1', amr: [{ method: 'web3', provider: 'web3' }] });
  });

  test('with a Solana wallet that signs bytes', async () => {
    const wallet = newSolanaWallet();
    const { url, nonce } = await options();
    const signMessage = async (bytes: Uint8Array) =>
      new Uint8Array(Buffer.from(wallet.sign(Buffer.from(bytes).toString()), 'base64url'));
    const { data, error } = await world
      .client()
      .auth.signInWithWeb3({
        chain: 'solana',
        wallet: { publicKey: { toBase58: () => wallet.address }, signMessage },
        options: { url, signInWithSolana: { nonce, resources: ['https://example.com/terms'] } },
      });
    expect(error).toBeNull();
    expect(data.user?.identities?.[0]?.id).toBe(`web3:solana:${wallet.address}`);
  });

  test('and gets the description of an error', async () => {
    const wallet = newEthereumWallet();
    const message = await writeMessage(wallet, { nonce: '' });
    const signature = wallet.sign(message) as Hex.Hex;
    const { error } = await world.client().auth.signInWithWeb3({ chain: 'ethereum', message, signature });
    expect(error).toMatchObject({
      status: 400,
      code: undefined,
      message: 'Signed Ethereum message has no valid nonce of this server',
    });
  });
});

describe.each(CHAINS)('%s', (name, newWallet) => {
  test('opens the same account at the next sign-in', async () => {
    const wallet = newWallet();
    const first = await signIn(wallet, await writeMessage(wallet));
    const second = await signIn(wallet, await writeMessage(wallet, { uri: `${LISTED}/sign-in?from=menu` }));
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body.user.id).toBe(first.body.user.id);
    expect(second.body.user.identities).toHaveLength(1);
    expect(second.body.user.identities[0].identity_data).toMatchObject({
      custom_claims: {
        chain: wallet.chain,
        domain: 'partner.example',
        statement: 'Sign in to Hustle Forge',
        network: name === 'Ethereum' ? '1' : 'mainnet',
      },
    });
    const { rows } = await world.admin.query(
      'select event, details from auth.audit_log where user_id = $1 order by id',
      [first.body.user.id],
    );
    expect(rows.map(({ event }) => event)).toEqual(['signed_up', 'signed_in', 'signed_in']);
  });

  test('accepts a message once, also of ten at the same time', async () => {
    const wallet = newWallet();
    const message = await writeMessage(wallet);
    const answers = await Promise.all(Array.from({ length: 10 }, () => signIn(wallet, message)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(9).fill(400)]);
    const replay = await signIn(wallet, message);
    expect(replay.body).toEqual({
      error: 'invalid_grant',
      error_description: `Signed ${name} message has no valid nonce of this server`,
    });
    const { rows } = await world.admin.query('select from auth.identities where provider_id ilike $1', [
      `%${wallet.address}`,
    ]);
    expect(rows).toHaveLength(1);
  });

  test('rejects a nonce that is missing, foreign, of another wallet or older than five minutes', async () => {
    const wallet = newWallet();
    const reason = [400, 'invalid_grant', `Signed ${name} message has no valid nonce of this server`];
    for (const nonce of ['', '0123456789abcdef0123456789abcdef'])
      expect(await refusal(wallet, { nonce })).toEqual(reason);
    const used = await newNonce();
    const other = newWallet();
    expect((await signIn(other, await writeMessage(other, { nonce: used }))).status).toBe(200);
    expect(await refusal(wallet, { nonce: used })).toEqual(reason);
    const old = await newNonce();
    world.clock.advance(300_000);
    expect(await refusal(wallet, { nonce: old })).toEqual(reason);
  });

  test('keeps the nonce of a message that it rejected for another reason', async () => {
    const wallet = newWallet();
    const nonce = await newNonce();
    expect((await refusal(wallet, { nonce, uri: 'https://evil.example/' }))[0]).toBe(400);
    expect((await signIn(wallet, await writeMessage(wallet, { nonce }))).status).toBe(200);
  });

  test("rejects another wallet's signature, one of another text and one that was changed", async () => {
    const wallet = newWallet();
    const message = await writeMessage(wallet);
    const valid = wallet.sign(message);
    const flipped = valid.slice(0, 20) + (valid[20] === '0' ? '1' : '0') + valid.slice(21);
    const zeros = wallet.chain === 'ethereum' ? `0x${'0'.repeat(130)}` : 'A'.repeat(86);
    const signatures = [newWallet().sign(message), wallet.sign(`${message} `), flipped, zeros];
    for (const signature of signatures) {
      const { status, body } = await signIn(wallet, message, signature);
      expect([status, body]).toEqual([
        400,
        { error: 'invalid_grant', error_description: 'Signature does not match address in message' },
      ]);
    }
    const forged = message.replace(wallet.address, newWallet().address);
    expect((await signIn(wallet, forged, valid)).body.error).toBe('invalid_grant');
  });

  test("rejects another app's message", async () => {
    const wallet = newWallet();
    const foreign = `Signed ${name} message is using URI which is not allowed on this server, message was signed for another app`;
    for (const uri of [
      'https://evil.example/',
      'https://partner.example.evil.example/',
      'https://user@partner.example/x',
    ])
      expect(await refusal(wallet, { uri, domain: new URL(uri).host })).toEqual([400, 'invalid_grant', foreign]);
    expect(await refusal(wallet, { uri: 'http://partner.example/' })).toEqual([
      400,
      'invalid_grant',
      `Signed ${name} message is using URI which does not use HTTPS`,
    ]);
    const mismatch = `Signed ${name} message is using a Domain that does not match the one in URI which is not allowed on this server`;
    for (const domain of ['evil.example', 'partner.example', 'localhost', 'localhost:1'])
      expect(await refusal(wallet, { domain })).toEqual([400, 'invalid_grant', mismatch]);
  });

  test('honours every time in the message', async () => {
    const wallet = newWallet();
    const cases: [Partial<MessageFields>, string][] = [
      [{ issuedAt: minutesFromNow(-11) }, `${name} message was issued too long ago`],
      [{ issuedAt: minutesFromNow(11) }, `${name} message was issued too far in the future`],
      [
        { extra: [`Not Before: ${minutesFromNow(1).toISOString()}`] },
        `Signed ${name} message becomes valid in the future`,
      ],
      [
        { issuedAt: minutesFromNow(-2), extra: [`Expiration Time: ${minutesFromNow(-1).toISOString()}`] },
        `Signed ${name} message is expired`,
      ],
    ];
    for (const [fields, reason] of cases) expect(await refusal(wallet, fields)).toEqual([400, 'invalid_grant', reason]);
    const extra = [
      `Expiration Time: ${minutesFromNow(2).toISOString()}`,
      `Not Before: ${minutesFromNow(-1).toISOString()}`,
    ];
    expect((await signIn(wallet, await writeMessage(wallet, { extra }))).status).toBe(200);
  });

  test('rejects a banned user', async () => {
    const wallet = newWallet();
    const { body } = await signIn(wallet, await writeMessage(wallet));
    await world.admin.query("update auth.users set banned_until = 'infinity' where id = $1", [body.user.id]);
    const banned = await signIn(wallet, await writeMessage(wallet));
    expect([banned.status, banned.body]).toEqual([403, { code: 'user_banned', message: 'User is banned' }]);
  });
});

test('upper and lower case of an Ethereum address are one wallet', async () => {
  const wallet = newEthereumWallet();
  const first = await signIn(wallet, await writeMessage(wallet));
  const lower = { ...wallet, address: wallet.address.toLowerCase() };
  const second = await signIn(lower, await writeMessage(lower));
  expect(second.body.user.id).toBe(first.body.user.id);
});

test('a signature by a Solana key of small order is rejected', async () => {
  const wallet: Wallet = {
    chain: 'solana',
    address: base58.encode(Uint8Array.from([1, ...Array<number>(31).fill(0)])),
    // The key is the identity point. With R the identity point and s = 0, the signature fits every text.
    sign: () => Buffer.from([1, ...Array<number>(63).fill(0)]).toString('base64url'),
  };
  expect((await refusal(wallet, {}))[2]).toBe('Signature does not match address in message');
});

test('stores no more than 500 characters of a statement', async () => {
  const wallet = newSolanaWallet();
  const { body } = await signIn(wallet, await writeMessage(wallet, { statement: 'x'.repeat(5_000) }));
  expect(body.user.user_metadata.custom_claims.statement).toBe('x'.repeat(500));
});

describe('the request', () => {
  test.each([
    [{ chain: 'bitcoin' }, 'web3_unsupported_chain', 'Unsupported chain'],
    [{}, 'web3_unsupported_chain', 'Unsupported chain'],
    [{ chain: 'solana', message: 'x'.repeat(63) }, 'validation_failed', 'message is too short'],
    [{ chain: 'ethereum', message: 'x'.repeat(20_481) }, 'validation_failed', 'message must not exceed 20KB'],
    [
      { chain: 'ethereum', message: 'x'.repeat(64), signature: `0x${'0'.repeat(129)}` },
      'validation_failed',
      'signature must be 65 bytes long, encoded as a 130 character-long hexadecimal string',
    ],
    [
      { chain: 'solana', message: 'x'.repeat(64), signature: 'A'.repeat(87) },
      'validation_failed',
      'signature must be 64 bytes encoded as base64 with or without padding',
    ],
    [
      { chain: 'solana', message: 'x'.repeat(64), signature: '!'.repeat(86) },
      'validation_failed',
      'signature does not contain valid base64 characters',
    ],
    [
      { chain: 'solana', message: 'x'.repeat(64), signature: 'A'.repeat(86) },
      'validation_failed',
      'siws: message needs at least 6 lines',
    ],
  ])('%j answers %s: %s', async (body, code, message) => {
    const answer = await send(body);
    expect([answer.status, answer.body]).toEqual([400, { code, message }]);
    const old = await send(body, { 'X-Supabase-Api-Version': '' });
    expect(old.body).toEqual({ code: 400, error_code: code, msg: message });
  });

  test('with an error of OAuth has one format in both versions', async () => {
    const wallet = newEthereumWallet();
    const message = await writeMessage(wallet, { nonce: '' });
    const answers = await Promise.all(
      ['2024-01-01', ''].map((version) =>
        send({ chain: 'ethereum', message, signature: wallet.sign(message) }, { 'X-Supabase-Api-Version': version }),
      ),
    );
    for (const { status, body } of answers)
      expect([status, Object.keys(body)]).toEqual([400, ['error', 'error_description']]);
  });

  test('with arbitrary values never causes a 500', async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 150 }),
      fc.constantFrom('ethereum', 'solana', '0x', '\0'),
      fc.integer(),
    );
    const signature = fc.oneof(text, fc.stringMatching(/^0x[0-9a-f]{130}$/), fc.stringMatching(/^[\w-]{86}$/));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('ethereum', 'solana'), text, signature, fc.boolean(), async (...input) => {
        const [chain, message, sig, isValidText] = input;
        const wallet = chain === 'ethereum' ? newEthereumWallet() : newSolanaWallet();
        const sent = isValidText ? await writeMessage(wallet, { nonce: '00000000' }) : message;
        expect((await send({ chain, message: sent, signature: sig })).status).toBe(400);
      }),
      { numRuns: fuzzBudget(60) },
    );
  });
});

test('a nonce is fresh each time and is not cached', async () => {
  const [first, second] = [await world.request('GET', '/web3/nonce'), await world.request('GET', '/web3/nonce')];
  expect(first.body).toEqual({ nonce: expect.stringMatching(/^[0-9a-f]{32}$/), expires_in: 300 });
  expect(first.body.nonce).not.toBe(second.body.nonce);
  expect(first.headers.get('cache-control')).toBe('no-store');
});

describe('switched off', () => {
  test('both chains answer web3_provider_disabled', async () => {
    const off = await startAuthWorld();
    const disabled = { code: 'web3_provider_disabled', message: 'Web3 provider is disabled' };
    const grant = await off.request('POST', '/token?grant_type=web3', { body: { chain: 'ethereum' } });
    const nonce = await off.request('GET', '/web3/nonce');
    expect([grant.status, grant.body, nonce.status, nonce.body]).toEqual([422, disabled, 422, disabled]);
    await off.close();
  });

  test('a single chain and new accounts are rejected by name, and requests are limited', async () => {
    const limited = await startAuthWorld({ AUTH_SOLANA: 'on', AUTH_SIGNUPS: 'off', AUTH_RATE_LIMITS: 'on' });
    const { status, body } = await limited.request('POST', '/token?grant_type=web3', { body: { chain: 'ethereum' } });
    expect([status, body]).toEqual([
      422,
      { code: 'web3_provider_disabled', message: 'Ethereum Web3 provider is disabled' },
    ]);
    const wallet = newSolanaWallet();
    const { nonce } = (await limited.request('GET', '/web3/nonce')).body;
    const message = await writeMessage(wallet, { nonce, uri: `${limited.config.publicUrl}/login` });
    const refused = await limited.request('POST', '/token?grant_type=web3', {
      body: { chain: 'solana', message, signature: wallet.sign(message) },
    });
    expect([refused.status, refused.body.code]).toEqual([422, 'signup_disabled']);
    for (const [method, path, left] of [
      ['GET', '/web3/nonce', 29],
      ['POST', '/token?grant_type=web3', 28],
    ] as const) {
      const options = method === 'POST' ? { body: {} } : {};
      for (let count = 0; count < left; count += 1) await limited.request(method, path, options);
      expect((await limited.request(method, path, options)).body.code).toBe('over_request_rate_limit');
    }
    await limited.close();
  });
});
