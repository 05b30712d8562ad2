/** The store of SAML identity providers (docs/specification/api.md 29 and 33). */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  createSsoProvider,
  deleteSsoProvider,
  findSsoProvider,
  findSsoProviderByDomain,
  listSsoProviders,
  ssoProviderJson,
  updateSsoProvider,
  type NewSsoProvider,
  type SsoProviderChange,
} from '#server/auth/saml/sso-providers.ts';
import { parseSamlKey } from '#server/auth/keys/key-file.ts';
import { AuthError } from '#server/auth/http/errors.ts';
import { setUpTestDatabase } from '../../../support/set-up.ts';
import { newKeyPair } from '../../../../simulators/saml/key-pair.ts';
import { createSamlPeer } from './saml-world.ts';

const db = setUpTestDatabase();

const DEPS = { publicUrl: 'https://journal.example', now: new Date('2026-11-22T12:00:00Z') };
const LATER = { ...DEPS, now: new Date('2026-11-23T12:00:00Z') };
const service = () => db.database.asService('test');
const create = (provider: NewSsoProvider) =>
  db.database.transactAsService('test', (transaction) => createSsoProvider(transaction, provider, DEPS));
const update = (id: string, change: SsoProviderChange) =>
  db.database.transactAsService('test', (transaction) => updateSsoProvider(transaction, id, change, LATER));
const remove = (id: string) =>
  db.database.transactAsService('test', (transaction) => deleteSsoProvider(transaction, id));

const newHost = (): string => `${randomUUID().slice(0, 8)}.example`;
const problemOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof AuthError ? `${error.status} ${error.code}: ${error.message}` : String(error);
};

test('a provider is found by id and by any of its domains, in any case', async () => {
  const peer = await createSamlPeer(newHost());
  const [host, other] = [newHost(), newHost()];
  const created = await create({ metadataXml: peer.metadata, domains: [host.toUpperCase(), other, host] });
  expect(created).toMatchObject({ entity_id: peer.entityId, disabled: false, attribute_mapping: {} });
  expect(created.domains).toEqual([host, other].toSorted());
  expect(await findSsoProvider(service(), created.id)).toEqual(created);
  expect(await findSsoProviderByDomain(service(), other.toUpperCase())).toEqual(created);
  expect(await findSsoProviderByDomain(service(), newHost())).toBeNull();
  expect(await listSsoProviders(service())).toContainEqual(created);
  expect(ssoProviderJson(created, { withMetadata: false })).toEqual({
    id: created.id,
    disabled: false,
    saml: { entity_id: peer.entityId, attribute_mapping: {} },
    domains: created.domains.map((domain) => ({ domain })),
    created_at: '2026-11-22T12:00:00.000Z',
    updated_at: '2026-11-22T12:00:00.000Z',
  });
  expect(ssoProviderJson(created, { withMetadata: true }).saml).toHaveProperty('metadata_xml', peer.metadata);
});

test('an update changes what it names, and a deletion frees the domains', async () => {
  const [peer, host, other] = [await createSamlPeer(newHost()), newHost(), newHost()];
  const { id } = await create({ metadataXml: peer.metadata, domains: [host] });
  const mapping = { keys: { name: { name: 'displayName' } } };
  expect(await update(id, { disabled: true, attributeMapping: mapping })).toMatchObject({
    disabled: true,
    attribute_mapping: mapping,
    domains: [host],
    metadata_xml: peer.metadata,
    updated_at: LATER.now,
  });
  const metadataXml = `${peer.metadata}\n`;
  expect(await update(id, { domains: [other], metadataXml })).toMatchObject({
    disabled: true,
    domains: [other],
    metadata_xml: metadataXml,
  });
  expect(await findSsoProviderByDomain(service(), host)).toBeNull();
  expect((await remove(id))?.id).toBe(id);
  expect([await remove(id), await findSsoProvider(service(), id)]).toEqual([null, null]);
  const again = await create({ metadataXml: peer.metadata, domains: [other] });
  expect(again.id).not.toBe(id);
});

test('a provider with the same entity or a domain of another provider is refused', async () => {
  const [first, second, host] = [await createSamlPeer(newHost()), await createSamlPeer(newHost()), newHost()];
  const { id } = await create({ metadataXml: first.metadata, domains: [host] });
  expect(await problemOf(create({ metadataXml: first.metadata }))).toBe(
    `422 saml_idp_already_exists: SAML Identity Provider with this EntityID (${first.entityId}) already exists`,
  );
  const taken = `400 sso_domain_already_exists: SSO Domain '${host}' is already assigned to an SSO identity provider (${id})`;
  expect(await problemOf(create({ metadataXml: second.metadata, domains: [newHost(), host] }))).toBe(taken);
  // The refused provider left nothing.
  const other = await create({ metadataXml: second.metadata });
  expect(await problemOf(update(other.id, { domains: [host] }))).toBe(taken);
  expect(await problemOf(update(other.id, { metadataXml: first.metadata }))).toBe(
    `400 saml_entity_id_mismatch: SAML Metadata can be updated only if the EntityID matches for the provider; expected '${second.entityId}' but got '${first.entityId}'`,
  );
  expect(await problemOf(update(randomUUID(), {}))).toBe('404 sso_provider_not_found: SSO Identity Provider not found');
});

test('concurrent creations of the same provider succeed once', async () => {
  const peer = await createSamlPeer(newHost());
  const problems = await Promise.all(
    Array.from({ length: 10 }, () => problemOf(create({ metadataXml: peer.metadata, domains: [newHost()] }))),
  );
  expect(problems.filter((problem) => problem === 'null')).toHaveLength(1);
  expect(problems.filter((problem) => problem.includes('saml_idp_already_exists'))).toHaveLength(9);
});

test('a provider with a weak key is refused', async () => {
  const { metadata } = await createSamlPeer(newHost(), 1024);
  expect(await problemOf(create({ metadataXml: metadata }))).toBe(
    '400 validation_failed: SAML Metadata contains a signing certificate that is not RSA with 2048 bits or more',
  );
});

test('our own key file needs a strong key and its own certificate', async () => {
  const [ours, other, weak] = [await newKeyPair('a'), await newKeyPair('b'), await newKeyPair('c', 1024)];
  expect(parseSamlKey(ours.certificate + ours.privateKey).certificate).toContain('BEGIN CERTIFICATE');
  expect(() => parseSamlKey(ours.privateKey + other.certificate)).toThrow('its certificate belongs to another key');
  expect(() => parseSamlKey(weak.privateKey + weak.certificate)).toThrow('its key is not RSA with 2048 bits or more');
});

test.each([
  [{ metadataXml: '<x/>' }, 'SAML Metadata does not contain an EntityDescriptor'],
  [{ domains: ['corp example'] }, 'domains must be a list of host names'],
  [{ domains: ['-corp.example'] }, 'domains must be a list of host names'],
  [{ domains: ['@corp.example'] }, 'domains must be a list of host names'],
  [{ domains: Array.from({ length: 101 }, (_, n) => `d${n}.example`) }, 'domains must be a list of host names'],
  [{ attributeMapping: { keys: 7 } }, 'attribute_mapping is not valid: keys must be an object'],
])('a provider with %j is refused', async (fields, message) => {
  const { metadata } = await createSamlPeer(newHost());
  expect(await problemOf(create({ metadataXml: metadata, ...fields }))).toBe(`400 validation_failed: ${message}`);
});
