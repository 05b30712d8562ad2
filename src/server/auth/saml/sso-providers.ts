/** Stores the SAML identity providers that administrators set up (docs/specification/api.md 29 and 33). */
import type { Selectable } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';
import type { Tables, JsonObject } from '#server/database/tables.ts';
import { isObject } from '#server/parse-json.ts';
import { AuthError, invalidRequest } from '../http/errors.ts';
import { parseIdpMetadata } from './idp-metadata.ts';

export type SsoProvider = Selectable<Tables['auth.sso_providers']> & {
  /** E-mail domains whose users sign in with this provider. */
  domains: string[];
};

/** Undefined members stay as they are. */
export type SsoProviderChange = {
  metadataXml?: string | undefined;
  /** Replaces all domains. */
  domains?: readonly string[] | undefined;
  attributeMapping?: JsonObject | undefined;
  disabled?: boolean | undefined;
};
export type NewSsoProvider = SsoProviderChange & { metadataXml: string };

type Deps = { publicUrl: string; now: Date };

const providerQuery = () =>
  queryBuilder
    .selectFrom('auth.sso_providers as provider')
    .selectAll('provider')
    .select((row) =>
      jsonArrayFrom(
        row
          .selectFrom('auth.sso_domains as domain')
          .select('domain.domain')
          .whereRef('domain.provider_id', '=', 'provider.id')
          .orderBy('domain.domain'),
      ).as('domains'),
    );

type ProviderRow = Omit<SsoProvider, 'domains'> & { domains: { domain: string }[] };

const toProvider = (row: ProviderRow): SsoProvider => ({ ...row, domains: row.domains.map(({ domain }) => domain) });

export async function listSsoProviders(service: AsService): Promise<SsoProvider[]> {
  return (await service.run(providerQuery().orderBy('provider.created_at').orderBy('provider.id'))).map(toProvider);
}

/** @param id a UUID */
export async function findSsoProvider(service: AsService, id: string): Promise<SsoProvider | null> {
  const [row] = await service.run(providerQuery().where('provider.id', '=', id));
  return row ? toProvider(row) : null;
}

export async function findSsoProviderByDomain(service: AsService, domain: string): Promise<SsoProvider | null> {
  const ofDomain = queryBuilder
    .selectFrom('auth.sso_domains')
    .select('provider_id')
    .where('domain', '=', domain.toLowerCase());
  const [row] = await service.run(providerQuery().where('provider.id', 'in', ofDomain));
  return row ? toProvider(row) : null;
}

/**
 * Requires a transaction. Throws `validation_failed` for metadata, domains or a mapping that cannot be used,
 * `saml_idp_already_exists` or `sso_domain_already_exists`.
 */
export async function createSsoProvider(
  transaction: AsService,
  provider: NewSsoProvider,
  { publicUrl, now }: Deps,
): Promise<SsoProvider> {
  const { metadataXml, domains = [], attributeMapping = {}, disabled = false } = provider;
  const { entityId } = parseIdpMetadata(metadataXml, { publicUrl });
  parseAttributeMapping(attributeMapping);
  const [row] = await transaction.run(
    queryBuilder
      .insertInto('auth.sso_providers')
      .values({
        entity_id: entityId,
        metadata_xml: metadataXml,
        attribute_mapping: JSON.stringify(attributeMapping),
        disabled,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) => conflict.column('entity_id').doNothing())
      .returning('id'),
  );
  if (!row)
    throw new AuthError(
      422,
      'saml_idp_already_exists',
      `SAML Identity Provider with this EntityID (${entityId}) already exists`,
    );
  await replaceDomains(transaction, row.id, domains);
  return (await findSsoProvider(transaction, row.id))!;
}

/**
 * Requires a transaction. Throws `validation_failed`, `sso_provider_not_found`, `saml_entity_id_mismatch` or
 * `sso_domain_already_exists`.
 */
export async function updateSsoProvider(
  transaction: AsService,
  id: string,
  change: SsoProviderChange,
  { publicUrl, now }: Deps,
): Promise<SsoProvider> {
  const { metadataXml, domains, attributeMapping, disabled } = change;
  const [current] = await transaction.run(
    queryBuilder.selectFrom('auth.sso_providers').select('entity_id').where('id', '=', id).forUpdate(),
  );
  if (!current) throw new AuthError('sso_identity_provider_not_found');
  if (metadataXml !== undefined) {
    // Threat: metadata of another identity provider would give it control of these users' accounts.
    const { entityId } = parseIdpMetadata(metadataXml, { publicUrl });
    if (entityId !== current.entity_id)
      throw new AuthError(
        400,
        'saml_entity_id_mismatch',
        `SAML Metadata can be updated only if the EntityID matches for the provider; expected '${current.entity_id}' but got '${entityId}'`,
      );
  }
  if (attributeMapping !== undefined) parseAttributeMapping(attributeMapping);
  await transaction.run(
    queryBuilder
      .updateTable('auth.sso_providers')
      .set({
        ...(metadataXml !== undefined && { metadata_xml: metadataXml }),
        ...(attributeMapping !== undefined && { attribute_mapping: JSON.stringify(attributeMapping) }),
        ...(disabled !== undefined && { disabled }),
        updated_at: now,
      })
      .where('id', '=', id),
  );
  if (domains !== undefined) await replaceDomains(transaction, id, domains);
  return (await findSsoProvider(transaction, id))!;
}

/** The accounts of its users stay, but single sign-on no longer opens them. Null if there is no such provider. */
export async function deleteSsoProvider(transaction: AsService, id: string): Promise<SsoProvider | null> {
  const provider = await findSsoProvider(transaction, id);
  if (!provider) return null;
  const rows = await transaction.run(
    queryBuilder.deleteFrom('auth.sso_providers').where('id', '=', id).returning('id'),
  );
  return rows.length > 0 ? provider : null;
}

const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const MAX_DOMAINS = 100;

async function replaceDomains(transaction: AsService, providerId: string, input: readonly string[]): Promise<void> {
  const domains = [...new Set(input.map((domain) => domain.toLowerCase()))];
  const isValid = domains.every((domain) => domain.length <= 253 && DOMAIN.test(domain));
  if (!isValid || domains.length > MAX_DOMAINS) throw invalidRequest('domains must be a list of host names');
  await transaction.run(queryBuilder.deleteFrom('auth.sso_domains').where('provider_id', '=', providerId));
  if (domains.length === 0) return;
  const inserted = await transaction.run(
    queryBuilder
      .insertInto('auth.sso_domains')
      .values(domains.map((domain) => ({ domain, provider_id: providerId })))
      .onConflict((conflict) => conflict.column('domain').doNothing())
      .returning('domain'),
  );
  if (inserted.length === domains.length) return;
  const [taken] = await transaction.run(
    queryBuilder
      .selectFrom('auth.sso_domains')
      .selectAll()
      .where('domain', 'in', domains)
      .where('provider_id', '!=', providerId),
  );
  const owner = taken ? `'${taken.domain}' is already assigned to an SSO identity provider (${taken.provider_id})` : '';
  throw new AuthError(400, 'sso_domain_already_exists', `SSO Domain ${owner}`);
}

/** A provider as the administration routes show it; a list leaves out the metadata. */
export const ssoProviderJson = (provider: SsoProvider, { withMetadata }: { withMetadata: boolean }) => ({
  id: provider.id,
  disabled: provider.disabled,
  saml: {
    entity_id: provider.entity_id,
    ...(withMetadata && { metadata_xml: provider.metadata_xml }),
    attribute_mapping: provider.attribute_mapping,
  },
  domains: provider.domains.map((domain) => ({ domain })),
  created_at: provider.created_at.toISOString(),
  updated_at: provider.updated_at.toISOString(),
});

// Maps attributes of an assertion to claims of the account, as configured for the identity provider.

type AttributeMapper = {
  /** Names or friendly names, in the order of preference. */
  names: readonly string[];
  /** Null without a default. */
  fallback: string | number | boolean | null;
};
export type AttributeMapping = ReadonlyMap<string, AttributeMapper>;

const MAX_CLAIMS = 20;
const MAX_NAMES = 10;
const MAX_LENGTH = 250;
const CLAIM_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
/** Claims that only the server sets, so a mapping must not name them. */
const RESERVED_CLAIMS = new Set(['sub', 'iss', 'email_verified', 'phone_verified', 'custom_claims', 'provider_id']);

const fail = (problem: string): never => {
  throw invalidRequest(`attribute_mapping is not valid: ${problem}`);
};

/**
 * Reads `{keys: {<claim>: {name?, names?, default?}}}`, as supabase/auth has it. Throws `validation_failed`.
 * Threat: metadata travels in every access token, and Node refuses requests with more than 16 KB of headers. So the
 * number and the length of the claims are limited.
 */
export function parseAttributeMapping(json: JsonObject): AttributeMapping {
  const keys = json['keys'] ?? {};
  if (!isObject(keys)) return fail('keys must be an object');
  const entries = Object.entries(keys);
  if (entries.length > MAX_CLAIMS) fail('at most 20 keys are supported');
  return new Map(entries.map(([claim, mapper]) => [checkClaim(claim), parseMapper(mapper)]));
}

function checkClaim(claim: string): string {
  if (!CLAIM_NAME.test(claim) || RESERVED_CLAIMS.has(claim)) fail('a key is not a valid claim name');
  return claim;
}

function parseMapper(mapper: unknown): AttributeMapper {
  if (!isObject(mapper)) return fail('each key must have an object');
  const { name, names = [], default: fallback = null } = mapper;
  const all: unknown[] = [
    ...(name === undefined || name === '' ? [] : [name]),
    ...(Array.isArray(names) ? names : [null]),
  ];
  const isName = (value: unknown): value is string =>
    typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH;
  if (all.length > MAX_NAMES || !all.every(isName)) return fail('name and names must be attribute names');
  const isFallback = fallback === null || ['string', 'number', 'boolean'].includes(typeof fallback);
  if (!isFallback || String(fallback).length > MAX_LENGTH)
    return fail('default must be a short text, number or boolean');
  return { names: all, fallback: fallback as AttributeMapper['fallback'] };
}

/** Attribute values by name; an attribute with a friendly name is listed under both. */
export type AssertionAttributes = ReadonlyMap<string, readonly string[]>;

export function mapAttributes(mapping: AttributeMapping, attributes: AssertionAttributes): JsonObject {
  const claims: JsonObject = {};
  for (const [claim, { names, fallback }] of mapping) {
    const value = names.flatMap((name) => attributes.get(name) ?? []).find((text) => text !== '') ?? fallback;
    if (value !== null) claims[claim] = typeof value === 'string' ? value.slice(0, MAX_LENGTH) : value;
  }
  return claims;
}
