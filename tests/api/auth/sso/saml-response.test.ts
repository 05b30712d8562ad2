/** Which responses of an identity provider are accepted, and which are refused (docs/specification/api.md 29). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzBudget } from '../../../support/fuzz-budget.ts';
import { fragmentOf } from '../providers/browser.ts';
import { newKeyPair } from '../../../../simulators/saml/key-pair.ts';
import { attribute } from '../../../../simulators/saml/response.ts';
import {
  createSamlPeer,
  INVALID,
  NOT_FOUND,
  problemOf,
  setUpSaml,
  type Overrides,
  type Signing,
} from './saml-world.ts';

const { world, addProvider, start, post, signIn, userOf } = setUpSaml();

describe('a response', () => {
  const base64 = (xml: string): string => Buffer.from(xml).toString('base64');
  const textOf = (response: string): string => Buffer.from(response, 'base64').toString();

  test('that is missing or not base64 is refused', async () => {
    expect(problemOf(await post(await start(), ''))).toBe('validation_failed: SAMLResponse is missing');
    for (const response of ['<xml/>', 'a'.repeat(355_000)])
      expect(problemOf(await post(await start(), response))).toBe(
        'validation_failed: SAMLResponse is not a valid Base64 string',
      );
  });

  test('in a form over 360 KB, or with more than 20 fields, is refused', async () => {
    expect(problemOf(await post(await start(), 'a'.repeat(360 * 1024)))).toBe(
      'request_entity_too_large: Request body too large',
    );
    const body = `SAMLResponse=x${'&a'.repeat(20)}`;
    const answer = await world.request('POST', '/sso/saml/acs', {
      body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(problemOf(new URL(answer.headers.get('location')!))).toBe(
      'validation_failed: The form holds more than 20 fields',
    );
  });

  test('is accepted once, also of ten at the same time', async () => {
    const started = await start({ code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' });
    const response = await world.peer.respond(world.ourMetadata, { requestId: started.id });
    const urls = await Promise.all(Array.from({ length: 10 }, () => post(started, response)));
    expect(urls.filter((url) => url.searchParams.has('code'))).toHaveLength(1);
    expect(problemOf(await post(started, response))).toBe(NOT_FOUND);
  });

  test('that failed once ends its flow', async () => {
    const started = await start();
    expect(problemOf(await post(started, base64('<x/>')))).toBe(INVALID);
    expect(problemOf(await post(started, await world.peer.respond(world.ourMetadata, { requestId: started.id })))).toBe(
      NOT_FOUND,
    );
    const { rows } = await world.admin.query('select from auth.flows where id = $1', [started.relayState]);
    expect(rows).toHaveLength(0);
  });

  test("of another flow is refused, with either flow's relay state", async () => {
    const [first, second] = [await start(), await start()];
    const response = await world.peer.respond(world.ourMetadata, { requestId: first.id });
    expect(problemOf(await post(second, response))).toBe(INVALID);
    // The first flow still accepts its own response.
    expect(fragmentOf(await post(first, response))['access_token']).toBeDefined();
  });

  const wrong: [string, Overrides, Signing?][] = [
    ['for another audience', { audience: 'https://other.example/metadata' }],
    ['for another recipient', { recipient: 'https://other.example/acs' }],
    ['for another destination', { destination: 'https://other.example/acs' }],
    ['of another issuer', { issuer: 'https://other.example/metadata' }],
    ['that has expired', { notBefore: new Date(Date.now() - 600_000), notOnOrAfter: new Date(Date.now() - 120_000) }],
    [
      'that is not valid yet',
      { notBefore: new Date(Date.now() + 120_000), notOnOrAfter: new Date(Date.now() + 300_000) },
    ],
    ['with a failed status', { status: 'urn:oasis:names:tc:SAML:2.0:status:Responder' }],
    ['without a signature', {}, { sign: 'none' }],
    ['with a signed message but an unsigned assertion', {}, { sign: 'message' }],
    ['with a SHA-1 signature', {}, { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }],
    ['for another request', { requestId: '_0123456789abcdef' }],
    ['with a comment in the name', { nameId: 'ana@corp.example<!---->.evil.example' }],
    ['with a CDATA section in the name', { nameId: '<![CDATA[ana@corp.example]]>' }],
    ['with an element in the name', { nameId: 'ana@corp.example<saml:x/>.evil.example' }],
    ['without a name', { edit: (xml) => xml.replace(/<saml:NameID.*<\/saml:NameID>/, '') }],
    ['with a transient name', { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }],
    ['without an address', { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent' }],
    ['with no valid address', { nameId: 'ana' }],
    [
      'without confirmation',
      { edit: (xml) => xml.replace(/<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/, '') },
    ],
    ['with another confirmation method', { edit: (xml) => xml.replace('cm:bearer', 'cm:holder-of-key') }],
    ['with an endless confirmation', { edit: (xml) => xml.replace(/(ConfirmationData) NotOnOrAfter="[^"]+"/, '$1') }],
    [
      'with an assertion for any request',
      { edit: (xml) => xml.replace(/(Recipient="[^"]+") InResponseTo="[^"]+"/, '$1') },
    ],
    ['without conditions', { edit: (xml) => xml.replace(/<saml:Conditions.*<\/saml:Conditions>/, '') }],
    ['without an audience', { edit: (xml) => xml.replace(/<saml:AudienceRestriction.*Restriction>/, '') }],
    ['without an authentication', { edit: (xml) => xml.replace(/<saml:AuthnStatement.*<\/saml:AuthnStatement>/, '') }],
    [
      'whose session at the identity provider has ended',
      { edit: (xml) => xml.replace('<saml:AuthnStatement', '$& SessionNotOnOrAfter="2026-01-01T00:00:00Z"') },
    ],
    ['that no request asked for', { edit: (xml) => xml.replaceAll(/ InResponseTo="[^"]+"/g, '') }],
  ];
  const SPECIAL: Record<string, string> = {
    'without a name': 'saml_assertion_no_user_id',
    'with a transient name': 'saml_assertion_no_user_id',
    'without an address': 'saml_assertion_no_email',
    'with no valid address': 'saml_assertion_no_email',
  };
  test.each(wrong)('%s is refused', async (what, fields, signing) => {
    const problem = problemOf(await signIn(fields, signing));
    if (SPECIAL[what]) expect(problem).toMatch(SPECIAL[what]);
    else expect(problem).toBe(INVALID);
  });

  test('signed with a key that is embedded in it is refused', async () => {
    const keys = await newKeyPair('idp.example');
    expect(problemOf(await signIn({}, { keys }))).toBe(INVALID);
    expect(problemOf(await signIn({}, { keys, sign: 'both' }))).toBe(INVALID);
  });

  test('of another identity provider of ours is refused', async () => {
    const other = await createSamlPeer('third.example');
    await addProvider({ metadataXml: other.metadata });
    for (const issuer of [other.entityId, world.peer.entityId]) {
      const started = await start();
      const response = await other.respond(world.ourMetadata, { requestId: started.id, issuer });
      expect(problemOf(await post(started, response))).toBe(INVALID);
    }
  });

  test("is refused once its assertion has expired by the server's clock", async () => {
    world.clock.advance(200_000);
    const started = await start();
    const fields = { requestId: started.id, notOnOrAfter: new Date(Date.now() + 130_000) };
    expect(problemOf(await post(started, await world.peer.respond(world.ourMetadata, fields)))).toBe(INVALID);
    world.clock.advance(-200_000);
  });

  describe('that was changed after it was signed', () => {
    const changes: [string, (xml: string) => string][] = [
      ['in its name', (xml) => xml.replace('>ana@corp.example<', '>boss@corp.example<')],
      ['in its format', (xml) => xml.replace('emailAddress"', 'unspecified"')],
      ['in its audience', (xml) => xml.replace('<saml:Audience>', '<saml:Audience> ')],
      ['in its end', (xml) => xml.replace(/(<saml:Conditions [^>]*NotOnOrAfter=")\d{4}/, '$12099')],
      [
        'by an attribute',
        (xml) =>
          xml.replace(
            '</saml:AuthnStatement>',
            `$&<saml:AttributeStatement>${attribute('mail', 'x@y.z')}</saml:AttributeStatement>`,
          ),
      ],
      ['by a comment', (xml) => xml.replace('>ana@corp.example<', '>ana@corp.example<!-- -->.evil.example<')],
      ['by its signature going', (xml) => xml.replace(/<ds:Signature.*<\/ds:Signature>/s, '')],
      ['by another digest', (xml) => xml.replace(/(?<=<ds:DigestValue>)./, (first) => (first === 'A' ? 'B' : 'A'))],
      ['by an empty reference', (xml) => xml.replace(/URI="#[^"]+"/, 'URI=""')],
      [
        'by an added transform',
        (xml) =>
          xml.replace(
            '</ds:Transforms>',
            '<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>false()</ds:XPath></ds:Transform></ds:Transforms>',
          ),
      ],
      ['by a document type', (xml) => `<!DOCTYPE x>${xml}`],
      [
        'by an internal entity',
        (xml) => `<!DOCTYPE x [<!ENTITY boss "boss@corp.example">]>${xml.replace('>ana@corp.example<', '>&boss;<')}`,
      ],
      [
        'by an external entity',
        (xml) =>
          `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${xml.replace('ana@', '&e;@')}`,
      ],
      [
        'by a billion laughs',
        (xml) => {
          const entities = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join(
            '',
          );
          return `<!DOCTYPE x [<!ENTITY l0 "ha">${entities}]>${xml.replace('ana@', '&l9;@')}`;
        },
      ],
      ['by a processing instruction', (xml) => xml.replace('<samlp:Status>', '<?php x ?>$&')],
      ['by text after the end', (xml) => `${xml}<x/>`],
      ['by being cut', (xml) => xml.slice(0, -20)],
    ];
    test.each(changes)('%s is refused', async (_, change) => {
      for (const sign of ['assertion', 'both'] as const) {
        const started = await start();
        const xml = textOf(await world.peer.respond(world.ourMetadata, { requestId: started.id }, { sign }));
        const changed = change(xml);
        expect(changed).not.toBe(xml);
        expect(problemOf(await post(started, base64(changed)))).toBe(INVALID);
      }
    });
  });

  test('with any edit never signs in as somebody else', async () => {
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat({ max: 60 }),
      added: fc.oneof(
        fc.string({ maxLength: 10 }),
        fc.constantFrom('boss@corp.example', '<!---->', '<saml:NameID>boss@corp.example</saml:NameID>', 'ID="_x" '),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        const started = await start();
        let xml = textOf(await world.peer.respond(world.ourMetadata, { requestId: started.id }));
        for (const { at, cut, added } of edits) {
          const index = Math.floor(at * xml.length);
          xml = xml.slice(0, index) + added + xml.slice(index + cut);
        }
        const url = await post(started, base64(xml));
        // An edit of what is not signed, such as white space at the end, changes nothing.
        if (fragmentOf(url)['access_token'] !== undefined) expect((await userOf(url)).email).toBe('ana@corp.example');
        else expect(problemOf(url)).toBe(INVALID);
      }),
      { numRuns: fuzzBudget(80) },
    );
  });

  describe('with a wrapped signature', () => {
    /** The parts of a signed response. */
    const parts = (xml: string) => {
      const assertion = /<saml:Assertion .*<\/saml:Assertion>/s.exec(xml)![0];
      const signature = /<ds:Signature .*<\/ds:Signature>/s.exec(assertion)![0];
      const unsigned = assertion.replace(signature, '');
      const forged = unsigned.replace('>ana@corp.example<', '>boss@corp.example<');
      return { assertion, signature, unsigned, forged, forgedId: forged.replace(/ ID="[^"]+"/, ' ID="_forged"') };
    };
    const wrap = (xml: string, before: string, after: string): string =>
      xml.replace(parts(xml).assertion, () => before + parts(xml).assertion + after);
    const replace = (xml: string, assertion: string): string => xml.replace(parts(xml).assertion, () => assertion);

    const attacks: [string, (xml: string) => string][] = [
      ['a forged assertion before the signed one', (xml) => wrap(xml, parts(xml).forgedId, '')],
      ['a forged assertion after the signed one', (xml) => wrap(xml, '', parts(xml).forgedId)],
      ['a forged assertion with the same id', (xml) => wrap(xml, parts(xml).forged, '')],
      [
        'the signed assertion within the forged one',
        (xml) =>
          replace(
            xml,
            parts(xml).forgedId.replace('</saml:Assertion>', () => `${parts(xml).assertion}</saml:Assertion>`),
          ),
      ],
      [
        'the signed assertion within the signature of the forged one',
        (xml) => {
          const { forgedId, signature, unsigned } = parts(xml);
          const wrapping = signature.replace(
            '</ds:Signature>',
            () => `<ds:Object>${unsigned}</ds:Object></ds:Signature>`,
          );
          return replace(
            xml,
            forgedId.replace('</saml:Issuer>', () => `</saml:Issuer>${wrapping}`),
          );
        },
      ],
      [
        'the signature moved to the forged assertion, with the signed one as a sibling',
        (xml) => {
          const { forgedId, signature, unsigned } = parts(xml);
          return replace(xml, forgedId.replace('</saml:Issuer>', () => `</saml:Issuer>${signature}`) + unsigned);
        },
      ],
      [
        'the signed assertion in an extension of the response',
        (xml) =>
          replace(xml, parts(xml).forgedId).replace(
            '<samlp:Status>',
            () => `<samlp:Extensions>${parts(xml).assertion}</samlp:Extensions><samlp:Status>`,
          ),
      ],
      [
        'the signed assertion in the confirmation data',
        (xml) =>
          replace(
            xml,
            parts(xml).forgedId.replace(
              /(<saml:SubjectConfirmationData[^>]*)\/>/,
              (_, open: string) => `${open}>${parts(xml).assertion}</saml:SubjectConfirmationData>`,
            ),
          ),
      ],
      [
        'a whole signed response within a forged one',
        (xml) => replace(xml, parts(xml).forgedId).replace('</samlp:Response>', () => `<x>${xml}</x></samlp:Response>`),
      ],
      [
        'a forged assertion in another namespace',
        (xml) =>
          wrap(xml, parts(xml).forgedId.replaceAll('saml:', 'evil:').replace('ID=', 'xmlns:evil="urn:evil" ID='), ''),
      ],
      [
        'a second name beside the signed one',
        (xml) => xml.replace(/<saml:NameID/, '<saml:NameID>boss@corp.example</saml:NameID>$&'),
      ],
      [
        'a second signature',
        (xml) => xml.replace(parts(xml).signature, () => parts(xml).signature + parts(xml).signature),
      ],
    ];
    test.each(attacks)('%s is refused', async (_, attack) => {
      const started = await start();
      const xml = textOf(await world.peer.respond(world.ourMetadata, { requestId: started.id }));
      const attacked = attack(xml);
      expect(attacked).not.toBe(xml);
      expect(problemOf(await post(started, base64(attacked)))).toBe(INVALID);
    });
  });

  test('writes why it was refused to the audit log', async () => {
    await signIn({}, { sign: 'none' });
    const { rows } = await world.admin.query('select * from auth.audit_log order by id desc limit 1');
    expect(rows[0]).toMatchObject({
      event: 'sign_in_failed',
      actor: 'guest',
      user_id: null,
      details: { method: 'sso/saml', provider: `sso:${world.provider.id}`, reason: 'validation_failed' },
    });
  });
});
