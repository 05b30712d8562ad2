/** Reads the PKCE challenge of a request (RFC 7636 4.3; docs/specification/wire.md 24). */
import type { Challenge } from './flows.ts';
import { AuthError } from '../http/errors.ts';

const MIN_LENGTH = 43;
const MAX_LENGTH = 128;

/** Null for the implicit flow, where both are empty. Throws `validation_failed`. */
export function parseChallenge(value: string, method: string): Challenge | null {
  if (value === '' && method === '') return null;
  if (value === '' || method === '') throw new AuthError('challenge_incomplete');
  if (value.length < MIN_LENGTH || value.length > MAX_LENGTH) throw new AuthError('challenge_length');
  if (!/^[A-Za-z0-9._~-]+$/.test(value)) throw new AuthError('challenge_characters');
  const known = (['s256', 'plain'] as const).find((name) => name === method.toLowerCase());
  if (!known) throw new AuthError('challenge_method');
  return { value, method: known };
}
