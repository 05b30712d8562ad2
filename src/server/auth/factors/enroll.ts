/** POST /factors and DELETE /factors/{id}: adds and removes a second factor (docs/specification/api.md 31). */
import { randomUUID } from 'node:crypto';
import type { FactorType } from '#server/database/tables.ts';
import type { AuthDeps, Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import type { Device } from '../http/device.ts';
import { AuthError, invalidRequest, type AuthErrorName } from '../http/errors.ts';
import { parsePhone } from '../http/credentials.ts';
import { seal } from '../keys/sealed.ts';
import { lockSignedInUser, type Member } from '../sessions/require-user.ts';
import { mailFactorRemoved } from './factor-mails.ts';
import {
  checkFriendlyName,
  createFactor,
  removeFactor,
  type EnrolmentProblem,
  type StoredFactor,
} from './factor-store.ts';
import { createTotpEnrolment } from './totp.ts';

const MAX_ISSUER_LENGTH = 64;

const PROBLEMS = {
  name_conflict: 'factor_name_conflict',
  too_many_factors: 'too_many_factors',
  second_step_missing: 'enroll_needs_second_step',
  phone_exists: 'phone_factor_exists',
} as const satisfies Record<EnrolmentProblem, AuthErrorName>;

type Given = { caller: Member; device: Device; requireRecentSignIn: (nonce: string) => Promise<void> };

export const enrollFactor: Endpoint<Given & { body: Body }> = async (context, deps, given) => {
  const { caller: user, body, device, requireRecentSignIn } = given;
  const type = parseType(deps, body);
  const friendlyName = checkFriendlyName(body.text('friendly_name'));
  const id = randomUUID();
  const { row, answer } = ENROLMENTS[type](deps, user, body, id);
  // `createFactor` refuses a session without a second step if the user has a verified factor. Such a request must not
  // use up a mailed code.
  const needsSecondStep =
    user.session.aal === 'aal1' && user.account.factors.some(({ status }) => status === 'verified');
  if (!needsSecondStep) await requireRecentSignIn(body.text('nonce'));
  await deps.limits.consumeChange(user);
  const problem = await deps.database.transactAsService('enrol a factor', (transaction) =>
    createFactor(transaction, {
      id,
      userId: user.account.user.id,
      type,
      friendlyName,
      session: user.session,
      ...row,
      device,
      now: deps.clock.now(),
    }),
  );
  if (problem !== null) throw new AuthError(PROBLEMS[problem], friendlyName);
  return context.json({ id, type, friendly_name: friendlyName, ...answer });
};

function parseType({ config, sms }: AuthDeps, body: Body): FactorType {
  const type = body.text('factor_type');
  if (type === 'phone' && sms === null)
    throw new AuthError(422, 'mfa_phone_enroll_not_enabled', 'MFA enroll is disabled for Phone');
  if (type === 'webauthn' && !config.auth.passkeys)
    throw new AuthError(422, 'mfa_webauthn_enroll_not_enabled', 'MFA enroll is disabled for WebAuthn');
  if (type !== 'totp' && type !== 'phone' && type !== 'webauthn')
    throw invalidRequest('factor_type needs to be totp, phone, or webauthn');
  return type;
}

type Enrolment = { row: { secret?: Buffer; phone?: string }; answer: object };

const ENROLMENTS: Record<FactorType, (deps: AuthDeps, user: Member, body: Body, id: string) => Enrolment> = {
  totp({ config, secrets }, { account: { user } }, body, id) {
    const issuer = body.text('issuer') || new URL(config.publicUrl).hostname;
    if (issuer.length > MAX_ISSUER_LENGTH) throw invalidRequest('issuer must be 64 characters or less');
    const { secret, uri, qrCode } = createTotpEnrolment({ issuer, label: user.email ?? user.phone ?? user.id });
    return {
      row: { secret: seal(secrets.factors, `factor:${id}`, secret) },
      answer: { totp: { qr_code: qrCode, secret, uri } },
    };
  },
  phone(_deps, _user, body) {
    if (body.text('phone') === '') throw invalidRequest('Phone number required to enroll Phone factor');
    const phone = parsePhone(body.text('phone'));
    return { row: { phone }, answer: { phone } };
  },
  webauthn: () => ({ row: {}, answer: {} }),
};

export const unenrollFactor: Endpoint<Given & { factor: StoredFactor }> = async (context, deps, given) => {
  const { caller: user, factor, device, requireRecentSignIn } = given;
  const { id, status } = factor;
  if (status === 'verified') {
    if (user.session.aal === 'aal1')
      throw new AuthError(422, 'insufficient_aal', 'AAL2 required to unenroll verified factor');
    await requireRecentSignIn('');
  }
  await deps.limits.consumeChange(user);
  const userId = user.account.user.id;
  const removed = await deps.database.transactAsService('remove a factor', async (transaction) => {
    await lockSignedInUser(transaction, userId, user.session);
    return removeFactor(transaction, {
      id,
      userId,
      actor: 'user',
      device,
      now: deps.clock.now(),
      // The factor may have been verified since it was read.
      onlyUnverified: status === 'unverified',
    });
  });
  if (!removed) throw new AuthError('factor_not_found');
  if (removed.status === 'verified') mailFactorRemoved(deps, user.account.user, removed.factor_type);
  return context.json({ id });
};
