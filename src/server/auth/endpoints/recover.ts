/** POST /recover: mails a link and a code with which to choose a new password (docs/specification/wire.md 14). */
import { mailRecovery } from '../mails/account-mails.ts';
import type { Endpoint } from '../auth-deps.ts';
import { findUserByEmail } from '../accounts/accounts.ts';
import { readBody } from '../wire/body.ts';
import { parseEmail } from '../wire/credentials.ts';
import { deviceOf } from '../wire/device.ts';
import { AuthError } from '../wire/errors.ts';
import { redirectTarget } from '../wire/redirects.ts';

export const recover: Endpoint = async (context, deps) => {
  await deps.limits.consume('recover', deviceOf(context, deps).ip);
  const given = (await readBody(context)).text('email');
  if (given === '') throw new AuthError('recovery_without_email');
  const email = parseEmail(given);
  const redirectTo = redirectTarget(context, deps.config);
  // The account is looked up after the answer, so that neither its words nor its time tell whether there is one.
  deps.mailer.prepare(async () => {
    const service = deps.database.asService('recover an account');
    const user = await findUserByEmail(service, email);
    if (user) await mailRecovery(deps, service, user, redirectTo);
  });
  return context.json({});
};
