import { expect, test } from 'vitest';
import { toIdentity } from './saml-identity.ts';
import type { SsoProvider } from './sso-providers.ts';

const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const PROVIDER = { id: 'corp', entity_id: 'https://idp.example/metadata', attribute_mapping: {} } as SsoProvider;

test.each([
  ['Kate@Corp.Example', 'kate@corp.example'],
  // The Kelvin sign and the Angstrom sign.
  ['\u212Aate@corp.example', '\u212Aate@corp.example'],
  ['\u212Bsa@corp.example', '\u212Bsa@corp.example'],
])('the name %s identifies %s, whatever it looks like', (value, providerId) => {
  const attributes = new Map([['mail', ['mallory@corp.example']]]);
  const identity = toIdentity(PROVIDER, { nameId: { value, format: EMAIL_FORMAT }, attributes });
  expect(identity).toMatchObject({ providerId, email: 'mallory@corp.example' });
});
