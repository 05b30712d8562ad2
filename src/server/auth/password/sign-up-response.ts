/**
 * The answer to a sign-up that waits for a confirmation: for a new, an unconfirmed and a taken address or number alike,
 * built only from the request, the time and two ids.
 */
import { createHmac } from 'node:crypto';
import type { JsonObject } from '#server/database/tables/auth-tables.ts';

type SignUp = {
  ids: SignUpIds;
  address: { email: string } | { phone: string };
  /** The request's `data`, merged with the identity's. */
  facts: JsonObject;
  appMetadata: { readonly provider: string; readonly providers: readonly string[] };
  now: Date;
};
export type SignUpIds = { userId: string; identityId: string };

export function signUpResponse({ ids: { userId, identityId }, address, facts, appMetadata, now }: SignUp) {
  const at = now.toISOString();
  const identity = {
    identity_id: identityId,
    id: userId,
    user_id: userId,
    identity_data: facts,
    provider: appMetadata.provider,
    last_sign_in_at: at,
    created_at: at,
    updated_at: at,
    ...('email' in address && address),
  };
  return {
    id: userId,
    aud: 'authenticated',
    role: 'authenticated',
    email: '',
    phone: '',
    ...address,
    confirmation_sent_at: at,
    app_metadata: appMetadata,
    user_metadata: facts,
    identities: [identity],
    created_at: at,
    updated_at: at,
    is_anonymous: false,
  };
}

/** The ids in the answer for a taken address or number: stable, and not those of its account. */
export const decoyIds = (key: Buffer, address: string): SignUpIds => ({
  userId: deriveUuid(key, `user:${address}`),
  identityId: deriveUuid(key, `identity:${address}`),
});

/** Deterministic per name, and indistinguishable from a random UUID (version 4) without the key. */
function deriveUuid(key: Buffer, name: string): string {
  const bytes = createHmac('sha256', key).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
