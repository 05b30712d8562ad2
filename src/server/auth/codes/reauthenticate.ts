/**
 * GET /reauthenticate: mails or texts a code. A session older than 24 hours needs the code to change the password or
 * the address with PUT /user (docs/specification/wire.md 12, 14, 26).
 */
import { mailReauthentication } from './account-mails.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import { requireUser } from '../sessions/require-user.ts';
import { deviceOf } from '../http/client-device.ts';
import { missingTargetError, reauthenticationTarget, textReauthentication } from './reauthenticate-by-phone.ts';

export const reauthenticate: Endpoint = async (context, deps) => {
  const { ip } = deviceOf(context, deps);
  await deps.limits.consume('reauthenticate', ip);
  const { account } = await requireUser(context, deps);
  const { user } = account;
  const target = reauthenticationTarget(user);
  if (target === null) throw missingTargetError(user);
  if (target.channel === 'phone') await textReauthentication(deps, user, target.address, ip);
  else await mailReauthentication(deps, deps.database.asService('reauthenticate'), account);
  return context.json({});
};
