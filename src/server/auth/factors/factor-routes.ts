/** The routes of second factors. Their modules load at the first request. */
import type { Endpoint, Route } from '../http/auth-deps.ts';
import { lazyEndpoint } from '../http/lazy-endpoint.ts';
import { AuthError } from '../http/errors.ts';

const RECOVERY_CODES = 'recovery-codes';

const recoveryCodes = (name: keyof typeof import('./recovery-codes.ts')): Endpoint =>
  lazyEndpoint(async () => (await import('./recovery-codes.ts'))[name]);

/**
 * Serves `/factors/recovery-codes` and `/factors/:id` with one route: the router that Hono chooses for an app with a
 * fixed path segment beside a parameter is slower for every request of the app.
 */
const codesOrFactor =
  (codes: Endpoint, factor: Endpoint | null = null): Endpoint =>
  (context, deps) => {
    if (context.req.param('id') === RECOVERY_CODES) return codes(context, deps);
    if (!factor) throw new AuthError('no_such_endpoint');
    return factor(context, deps);
  };

const unenroll = lazyEndpoint(async () => (await import('./enroll.ts')).unenroll);
const verify = lazyEndpoint(async () => (await import('./verify.ts')).verifyFactor);

export const FACTOR_ROUTES: readonly Route[] = [
  ['POST', '/factors', lazyEndpoint(async () => (await import('./enroll.ts')).enroll)],
  ['GET', '/factors/:id', codesOrFactor(recoveryCodes('showRecoveryCodes'))],
  ['POST', '/factors/:id', codesOrFactor(recoveryCodes('createRecoveryCodes'))],
  ['DELETE', '/factors/:id', codesOrFactor(recoveryCodes('deleteRecoveryCodes'), unenroll)],
  ['POST', '/factors/:id/challenge', lazyEndpoint(async () => (await import('./challenge.ts')).challengeFactor)],
  ['POST', '/factors/:id/verify', codesOrFactor(recoveryCodes('verifyRecoveryCode'), verify)],
  ['POST', '/factors/:id/regenerate', codesOrFactor(recoveryCodes('regenerateRecoveryCodes'))],
];
