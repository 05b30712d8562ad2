/**
 * The second step of a sign-in (docs/specification/accounts.md 14). The first step alone starts a session whose token
 * has the assurance level `aal1`; the screens treat it as no session until the second step raises it to `aal2`.
 */
import type { Session } from '@supabase/auth-js';
import { readClaims } from './token-claims.ts';

export const needsSecondStep = ({ access_token, user }: Pick<Session, 'access_token' | 'user'>): boolean =>
  user.factors?.some(({ status }) => status === 'verified') === true && readClaims(access_token)?.aal !== 'aal2';
