/** Which mails the domain of their sender vouches for, with real signatures and a DNS server on loopback. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../tests/support/fuzz-budget.ts';
import { startMailProvider, type MailProvider } from '../../../simulators/mail-client/mail-provider.ts';
import { createAuthenticator, type AuthenticateMail, type Claim } from './authenticate-mail.ts';
import { parseMail, showsRecipient } from './parse-mail.ts';

const US = 'log+token@reply.example.org';
const TITLE = 'Saturday, November 28, 2026';
const NO_POLICY = null;
const POLICY = ['v=DMARC1; p=reject'];

let provider: MailProvider;
let authenticate: AuthenticateMail;
beforeAll(async () => {
  provider = await startMailProvider();
  authenticate = createAuthenticator([provider.dns.address], 'reply.example.org');
});
afterAll(() => provider.close());
afterEach(() => provider.answers.clear());

function write({ from = 'ana@example.com', to = US, cc = '', subject = `Re: ${TITLE}`, body = 'One' } = {}): string {
  const lines = [`From: ${from}`, `To: ${to}`, ...(cc === '' ? [] : [`Cc: ${cc}`]), `Subject: ${subject}`];
  return `${lines.join('\r\n')}\r\nMIME-Version: 1.0\r\n\r\n${body}\r\n`;
}

const check = (raw: string, { from = 'ana@example.com', arrival = null }: Partial<Claim> = {}) =>
  authenticate({ raw: Buffer.from(raw), from, arrival, isMeantForUs: (lines) => showsRecipient(lines, US, TITLE) });

describe('a signature', () => {
  test.each([
    ['To', 'from:to', {}],
    ['To and more than there is', 'from:to:to:cc:subject:date:message-id', {}],
    ['Cc', 'from:cc', { to: 'ben@example.com', cc: `Log <${US.toUpperCase()}>` }],
    ['neither, but the subject of our mail, as Outlook does', 'From:Date:Subject:Message-ID:MIME-Version', {}],
    ['that subject in German', 'from:subject', { subject: `AW: [EXTERN] Re: ${TITLE}` }],
    ['that subject in an encoded word', 'from:subject', { subject: `=?utf-8?B?${btoa(`Re: ${TITLE}`)}?=` }],
  ])('vouches for a mail if it covers %s', async (_name, headerList, mail) => {
    expect(await check(await provider.sign(write(mail), 'example.com', { headerList }))).toBe('pass');
  });

  test.each([
    ['From alone', 'from', {}],
    ['another subject', 'from:subject', { subject: `Notes of ${TITLE}` }],
    ['a longer subject', 'from:subject', { subject: `Re: ${TITLE} and more` }],
    ['our address as a name', 'from:to', { to: `"${US}" <ben@example.com>` }],
  ])('vouches for no mail if it covers %s', async (_name, headerList, mail) => {
    expect(await check(await provider.sign(write(mail), 'example.com', { headerList }))).toBe('fail');
  });

  test('vouches for no mail to somebody else that got a To or Cc with our address later', async () => {
    const other = write({ to: 'list@example.net', subject: 'Lunch' });
    for (const headerList of ['from:to:subject', 'from:subject', 'from:to:to:cc:subject']) {
      const signed = await provider.sign(other, 'example.com', { headerList });
      for (const added of [`To: ${US}`, `Cc: ${US}`, `TO : ${US}`, `X-A: b\r\nto\t: ${US}`]) {
        expect(await check(`${added}\r\n${signed}`)).toBe('fail');
        expect(await check(signed.replace('\r\nSubject', `\r\n${added}\r\nSubject`))).toBe('fail');
      }
      expect(await check(signed.replace('To: list@example.net', `To: ${US}`))).toBe('fail');
    }
  });

  test('vouches for no mail to somebody else, whatever its header is made into', async () => {
    const list = { to: 'Team <list@example.net>', cc: 'ben@example.com', subject: 'Lunch' };
    const signed = await Promise.all(
      ['from:to:cc:subject', 'from:subject', 'from', 'from:from:to:to:cc:cc:subject'].map((headerList) =>
        provider.sign(write(list), 'example.com', { headerList }),
      ),
    );
    const name = fc.constantFrom(
      'To',
      'tO',
      'To ',
      'To\t',
      'Cc',
      'Subject',
      'From',
      'Resent-To',
      'X-A',
      '\u00A0To',
      '',
    );
    const value = fc.constantFrom(
      US,
      `<${US}>`,
      `Re: ${TITLE}`,
      `a, ${US}`,
      `list@example.net, ${US}`,
      `team: ${US};`,
      'b',
    );
    const line = fc.oneof(
      fc.tuple(name, value).map(([header, text]) => `${header}: ${text}`),
      fc.tuple(name, value).map(([header, text]) => `${header}:\r\n\t${text}`),
      fc.tuple(name, value).map(([header, text]) => `${header}\r\n : ${text}`),
      value.map((text) => ` ${text}`),
      value.map((text) => `\rTo: ${text}`),
      value.map((text) => `X: a\nTo: ${text}`),
      value.map((text) => `X: a\0\nTo: ${text}`),
    );
    const change = fc.record({ at: fc.nat(12), line, replaces: fc.boolean() });
    const mail = fc.record({
      raw: fc.constantFrom(...signed),
      changes: fc.array(change, { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(mail, async ({ raw, changes }) => {
        const end = raw.indexOf('\r\n\r\n');
        const header = raw.slice(0, end).split('\r\n');
        for (const { at, line: added, replaces } of changes) header.splice(at, replaces ? 1 : 0, added);
        const changed = header.join('\r\n') + raw.slice(end);
        const parsed = await parseMail(Buffer.from(changed)).catch(() => null);
        const isTaken =
          parsed?.from === 'ana@example.com' && parsed.to.includes(US) && (await check(changed)) === 'pass';
        expect(isTaken).toBe(false);
      }),
      { numRuns: fuzzBudget(300) },
    );
  });

  test('vouches for its body alone, if it covers the beginning of a longer one', async () => {
    const whole = await provider.sign(write(), 'example.com', { maxBodyLength: 5 });
    expect(await check(whole)).toBe('pass');
    expect(await check(`${whole}Two\r\n`)).toBe('fail');
  });

  test('that does not vouch does not hide one that does', async () => {
    const twice = await provider.sign(
      await provider.sign(write(), 'example.com', { headerList: 'from' }),
      'example.com',
    );
    expect(await check(twice)).toBe('pass');
    const other = await provider.sign(await provider.sign(write(), 'example.com'), 'stranger.example');
    expect(await check(other)).toBe('pass');
  });
});

describe('the domain of a signature', () => {
  const signedBy = async (signer: string, from: string, policies: Record<string, readonly string[] | null> = {}) => {
    for (const [domain, policy] of Object.entries(policies)) provider.answers.set(`_dmarc.${domain}`, policy);
    return check(await provider.sign(write({ from: `ana@${from}` }), signer), { from: `ana@${from}` });
  };

  test.each<[string, string, Record<string, readonly string[] | null>]>([
    ['example.com', 'example.com', {}],
    ['example.com', 'example.com', { 'example.com': NO_POLICY }],
    ['mail.example.com', 'example.com', {}],
    ['example.com', 'team.example.com', {}],
    ['mail.example.com', 'team.example.com', {}],
    ['mail.example.co.uk', 'example.co.uk', { 'example.co.uk': POLICY }],
    ['Example.com', 'example.com', {}],
  ])('%s vouches for %s', async (signer, from, policies) => {
    expect(await signedBy(signer, from, policies)).toBe('pass');
  });

  test.each<[string, string, Record<string, readonly string[] | null>]>([
    ['stranger.example', 'example.com', {}],
    ['myexample.com', 'example.com', {}],
    ['mail.example.com', 'example.com', { 'example.com': ['v=DMARC1; p=reject; adkim=s'] }],
    // Without a policy, subdomains may be those of customers.
    ['customer.example.com', 'example.com', { 'example.com': NO_POLICY }],
    ['example.com', 'customer.example.com', { 'example.com': NO_POLICY }],
    // Suffixes below which strangers register, with a policy of their own that does not say so.
    ['stranger.co.uk', 'example.co.uk', { 'co.uk': POLICY }],
    ['stranger.github.io', 'ana.github.io', { 'github.io': POLICY }],
    ['stranger.github.io', 'github.io', { 'github.io': POLICY }],
    ['stranger.eu.org', 'ana.eu.org', { 'eu.org': POLICY, 'ana.eu.org': NO_POLICY }],
    ['com', 'example.com', {}],
  ])('%s does not vouch for %s', async (signer, from, policies) => {
    expect(await signedBy(signer, from, policies)).toBe('fail');
  });
});

describe('SPF without a signature', () => {
  const arrival = { ip: '127.0.0.1', helo: 'mail.example.com', mailFrom: 'ana@example.com' };
  const allow = (domain: string): void => void provider.answers.set(domain, ['v=spf1 ip4:127.0.0.1 -all']);

  test('vouches for a mail of its domain, with and without a policy', async () => {
    allow('example.com');
    expect(await check(write(), { arrival })).toBe('pass');
    provider.answers.set('_dmarc.example.com', NO_POLICY);
    expect(await check(write(), { arrival })).toBe('pass');
    expect(await check(write(), { arrival: { spfDomain: 'example.com' } })).toBe('pass');
  });

  test.each([
    ['another address', { ...arrival, ip: '127.0.0.2' }],
    ['another domain', { ...arrival, mailFrom: 'ana@stranger.example' }],
    ['a name without an envelope', { ...arrival, mailFrom: '' }],
    ['another domain, by a provider', { spfDomain: 'stranger.example' }],
    ['nothing', null],
  ])('does not vouch by %s', async (_name, changed) => {
    allow('example.com');
    allow('stranger.example');
    expect(await check(write(), { arrival: changed })).toBe('fail');
  });

  test('of a subdomain vouches with a policy alone', async () => {
    allow('bounce.example.com');
    const bounce = { ...arrival, mailFrom: 'b@bounce.example.com' };
    expect(await check(write(), { arrival: bounce })).toBe('pass');
    provider.answers.set('_dmarc.example.com', NO_POLICY);
    expect(await check(write(), { arrival: bounce })).toBe('fail');
  });
});

describe('while DNS fails', () => {
  const arrivalFrom = (domain: string) => ({ ip: '127.0.0.1', helo: `mail.${domain}`, mailFrom: `ana@${domain}` });
  const from = (domain: string) => ({ from: `ana@${domain}` });

  test.each(['SERVFAIL', 'silence'] as const)('nothing is known of a mail (%s)', async (answer) => {
    const [key, policy, spf] = ['a.example', 'b.example', 'c.example'];
    for (const name of [`sandbox._domainkey.${key}`, `_dmarc.${policy}`, spf]) provider.answers.set(name, answer);
    const signed = (domain: string) => provider.sign(write(from(domain)), domain);
    const results = await Promise.all([
      check(await signed(key), from(key)),
      check(await signed(policy), from(policy)),
      check(write(from(spf)), { ...from(spf), arrival: arrivalFrom(spf) }),
      // A signature suffices.
      check(await signed(spf), { ...from(spf), arrival: arrivalFrom(spf) }),
    ]);
    expect(results).toEqual(['unknown', 'unknown', 'unknown', 'pass']);
  });

  test('a mail of a stranger fails, and asks nothing of their domains', async () => {
    provider.answers.set('sandbox._domainkey.stranger.example', 'silence');
    provider.answers.set('stranger.example', 'silence');
    let signed = write();
    for (let count = 0; count < 5; count += 1) signed = await provider.sign(signed, 'stranger.example');
    expect(await check(signed, { arrival: arrivalFrom('stranger.example') })).toBe('fail');
  });
});
