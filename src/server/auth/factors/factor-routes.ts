/** The routes of second factors. Their modules load at the first request. */
import type { Endpoint, Route } from '../auth-deps.ts';
import { lazyEndpoint } from '../lazy-endpoint.ts';

const recoveryCodes = (name: keyof typeof import('./recovery-codes.ts')): Endpoint =>
  lazyEndpoint(async () => (await import('./recovery-codes.ts'))[name]);

export const FACTOR_ROUTES: readonly Route[] = [
  // Before `/factors/:id`, which matches this path too.
  ['GET', '/factors/recovery-codes', recoveryCodes('showRecoveryCodes')],
  ['POST', '/factors/recovery-codes', recoveryCodes('createRecoveryCodes')],
  ['DELETE', '/factors/recovery-codes', recoveryCodes('deleteRecoveryCodes')],
  ['POST', '/factors/recovery-codes/verify', recoveryCodes('verifyRecoveryCode')],
  ['POST', '/factors/recovery-codes/regenerate', recoveryCodes('regenerateRecoveryCodes')],
  ['POST', '/factors', lazyEndpoint(async () => (await import('./enroll.ts')).enroll)],
  ['DELETE', '/factors/:id', lazyEndpoint(async () => (await import('./unenroll.ts')).unenroll)],
  ['POST', '/factors/:id/challenge', lazyEndpoint(async () => (await import('./challenge.ts')).challengeFactor)],
  ['POST', '/factors/:id/verify', lazyEndpoint(async () => (await import('./verify.ts')).verifyFactor)],
];
