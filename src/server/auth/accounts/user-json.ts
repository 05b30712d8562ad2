/** Serializes a user as clients read it (docs/specification/api.md 7). */
import type { Account, FactorRow, IdentityRow } from './accounts.ts';

/** RFC 3339 in UTC. */
const time = (at: Date): string => at.toISOString();

/** JSON.stringify omits undefined members. */
const optionalTime = (at: Date | null): string | undefined => at?.toISOString();

export function userJson({ user, identities, factors }: Account) {
  const confirmed = [user.email_confirmed_at, user.phone_confirmed_at].filter((at) => at !== null);
  const earliest = confirmed.toSorted((a, b) => a.getTime() - b.getTime())[0] ?? null;
  return {
    id: user.id,
    aud: user.aud,
    role: user.role,
    email: user.email ?? '',
    email_confirmed_at: optionalTime(user.email_confirmed_at),
    invited_at: optionalTime(user.invited_at),
    phone: user.phone ?? '',
    phone_confirmed_at: optionalTime(user.phone_confirmed_at),
    confirmation_sent_at: optionalTime(user.confirmation_sent_at),
    confirmed_at: optionalTime(earliest),
    recovery_sent_at: optionalTime(user.recovery_sent_at),
    new_email: user.new_email ?? undefined,
    email_change_sent_at: optionalTime(user.email_change_sent_at),
    new_phone: user.new_phone ?? undefined,
    phone_change_sent_at: optionalTime(user.phone_change_sent_at),
    reauthentication_sent_at: optionalTime(user.reauthentication_sent_at),
    last_sign_in_at: optionalTime(user.last_sign_in_at),
    app_metadata: user.raw_app_meta_data,
    user_metadata: user.raw_user_meta_data,
    factors: factors.length === 0 ? undefined : factors.map(factorJson),
    identities: identities.map(identityJson),
    created_at: time(user.created_at),
    updated_at: time(user.updated_at),
    banned_until: optionalTime(user.banned_until),
    deleted_at: optionalTime(user.deleted_at),
    is_anonymous: user.is_anonymous,
  };
}

function identityJson(identity: IdentityRow) {
  const email = identity.identity_data['email'];
  return {
    identity_id: identity.id,
    id: identity.provider_id,
    user_id: identity.user_id,
    identity_data: identity.identity_data,
    provider: identity.provider,
    last_sign_in_at: optionalTime(identity.last_sign_in_at),
    created_at: time(identity.created_at),
    updated_at: time(identity.updated_at),
    email: typeof email === 'string' ? email : undefined,
  };
}

export const factorJson = (factor: FactorRow) => ({
  id: factor.id,
  created_at: time(factor.created_at),
  updated_at: time(factor.updated_at),
  status: factor.status,
  friendly_name: factor.friendly_name === '' ? undefined : factor.friendly_name,
  factor_type: factor.factor_type,
  phone: factor.phone ?? undefined,
  last_challenged_at: factor.last_challenged_at?.toISOString() ?? null,
});
