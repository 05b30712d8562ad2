/** Maps attributes of an assertion to claims of the account, as configured for the identity provider. */
import type { JsonObject } from '#server/database/tables.ts';
import { invalidRequest } from '../http/errors.ts';

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

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
