/**
 * GET /reauthenticate: mails a code. A session older than 24 hours needs the code to change the password or the
 * address with PUT /user (docs/specification/wire.md 12, 14).
 */
import { mailReauthentication } from '../mails/account-mails.ts';
import type { Endpoint } from '../auth-deps.ts';
import { requireUser } from '../wire/require-user.ts';
import { deviceOf } from '../wire/client-device.ts';
import { AuthError } from '../wire/errors.ts';

export const reauthenticate: Endpoint = async (context, deps) => {
  await deps.limits.consume('reauthenticate', deviceOf(context, deps).ip);
  const { user } = (await requireUser(context, deps)).account;
  if (user.email === null) throw new AuthError('reauthentication_without_address');
  if (user.email_confirmed_at === null) throw new AuthError('reauthentication_unconfirmed');
  await mailReauthentication(deps, deps.database.asService('reauthenticate'), user);
  return context.json({});
};
