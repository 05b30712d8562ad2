/**
 * Tells the owner of an account by mail that an unknown device has signed in (docs/specification/accounts.md 16).
 * A device is known by its cookie (`sessions/device-cookie.ts`).
 */
import { ROUTES } from '#domain/routes.ts';
import { newDeviceMail } from '#server/mail/account-emails.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import { claimMail } from '../accounts/claim-mail.ts';
import type { UserRow } from '../accounts/accounts.ts';
import type { Device } from '../http/device.ts';
import type { StartedSession } from './sessions.ts';
import { describeDevice } from './describe-device.ts';
import { sendNotice } from '../accounts/security-notice.ts';

/** The minimum time between two notices. Threat: a stranger who knows the password floods the owner with notices. */
const INTERVAL_MS = 3_600_000;
/** Sessions of these methods began with a mail to the address that would get the notice, so none is sent. */
const MAILED_METHODS: ReadonlySet<string> = new Set([
  'magiclink',
  'recovery',
  'invite',
  'email/signup',
  'email_change',
]);

type SignIn = { user: UserRow; started: StartedSession; device: Device };

/** Queries and sends after the response. Call it for sign-ins from devices without a valid cookie. */
export function mailNewDevice(deps: AuthDeps, { user, started, device }: SignIn): void {
  if (user.email === null || user.email_confirmed_at === null || started.isFirst) return;
  if (started.session.amr.some(({ method }) => MAILED_METHODS.has(method))) return;
  const now = deps.clock.now();
  deps.mailer.prepare(async () => {
    const service = deps.database.asService('notify of a new device');
    const column = 'new_device_notice_sent_at';
    if (!(await claimMail(service, { userId: user.id, column, intervalMs: INTERVAL_MS, now }))) return;
    const profileLink = `${deps.config.publicUrl}${ROUTES.profile.path}`;
    const facts = { device: describeDevice(device.userAgent), at: formatUtc(now), profileLink };
    sendNotice(deps, user, (notice) => newDeviceMail({ ...notice, ...facts }));
  });
}

/** Such as `22 November 2026, 17:05 UTC`. */
const formatUtc = (date: Date): string => {
  const options = { timeZone: 'UTC', hour12: false } as const;
  const day = date.toLocaleDateString('en-GB', { ...options, dateStyle: 'long' });
  return `${day}, ${date.toLocaleTimeString('en-GB', { ...options, hour: '2-digit', minute: '2-digit' })} UTC`;
};
