/** Tokens for the admin routes: signed with the signing key, stored nowhere, and valid until they or the key end. */
import { randomUUID } from 'node:crypto';
import type { SigningKeys } from './signing-keys.ts';

const DAY_SECONDS = 24 * 3_600;

type NewServiceToken = { publicUrl: string; days: number; now: Date };

/** The id is the token's `jti` claim, which the audit log names. */
export async function signServiceToken(
  keys: Pick<SigningKeys, 'sign'>,
  { publicUrl, days, now }: NewServiceToken,
): Promise<{ token: string; id: string }> {
  const id = randomUUID();
  const issuedAt = Math.floor(now.getTime() / 1000);
  const token = await keys.sign({
    iss: `${publicUrl}/auth/v1`,
    role: 'service_role',
    iat: issuedAt,
    exp: issuedAt + days * DAY_SECONDS,
    jti: id,
  });
  return { token, id };
}
