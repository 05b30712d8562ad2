/** Tokens for the admin routes: signed with the signing key, stored nowhere, and valid until they or the key end. */
import { randomUUID } from 'node:crypto';
import type { SigningKeys } from './signing-keys.ts';

/** The roles that open the admin routes (docs/specification/api.md 33). */
export const ADMIN_ROLES: ReadonlySet<string> = new Set(['service_role', 'supabase_admin']);

const DAY_SECONDS = 24 * 3_600;

/**
 * The role of the token that `npm run doctor` sends, which opens `GET /admin/connection` alone. Threat: PUBLIC_URL
 * leads to a stranger, who gets the token.
 */
export const PROBE_ROLE = 'connection_probe';

type NewServiceToken = { publicUrl: string; days: number; now: Date; role?: 'service_role' | typeof PROBE_ROLE };

/** The id is the token's `jti` claim, which the audit log names. */
export async function signServiceToken(
  keys: Pick<SigningKeys, 'sign'>,
  { publicUrl, days, now, role = 'service_role' }: NewServiceToken,
): Promise<{ token: string; id: string }> {
  const id = randomUUID();
  const issuedAt = Math.floor(now.getTime() / 1000);
  const token = await keys.sign({
    iss: `${publicUrl}/auth/v1`,
    role,
    iat: issuedAt,
    exp: issuedAt + days * DAY_SECONDS,
    jti: id,
  });
  return { token, id };
}
