/** POST /recover: mails a link and a code with which to choose a new password (docs/specification/wire.md 14). */
import { mailRecovery } from '../mails/account-mails.ts';
import type { Endpoint } from '../auth-deps.ts';
import { userByEmail } from '../accounts/accounts.ts';
import { readBody } from '../wire/body.ts';
import { checkedEmail } from '../wire/credentials.ts';
import { deviceOf } from '../wire/device.ts';
import { AuthError } from '../wire/errors.ts';
import { redirectTarget } from '../wire/redirects.ts';

export const recover: Endpoint = async (context, parts) => {
  await parts.limits.consume('recover', deviceOf(context, parts).ip);
  const given = (await readBody(context)).text('email');
  if (given === '') throw new AuthError('recovery_without_email');
  const email = checkedEmail(given);
  const redirectTo = redirectTarget(context, parts.config);
  // The account is looked up after the answer, so that neither its words nor its time tell whether there is one.
  parts.mailer.prepare(async () => {
    const service = parts.database.asService('recover an account');
    const user = await userByEmail(service, email);
    if (user) await mailRecovery(parts, service, user, redirectTo);
  });
  return context.json({});
};
