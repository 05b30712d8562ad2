/** POST /recover: mails a link and a code for choosing a new password (docs/specification/api.md 14). */
import { findUserByEmail } from '../accounts/accounts.ts';
import type { Endpoint } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { parseEmail } from '../http/credentials.ts';
import { invalidRequest } from '../http/errors.ts';
import { mailRecovery, readMailRequest } from './mail-codes.ts';

export const recover: Endpoint<{ body: Body }> = async (context, deps, { body }) => {
  const input = body.text('email');
  if (input === '') throw invalidRequest('Password recovery requires an email');
  const email = parseEmail(input);
  const request = readMailRequest(context, deps, body);
  // The account is looked up after the response. So neither the response's content nor its timing reveals whether the
  // account exists.
  deps.mailer.prepare(async () => {
    const service = deps.database.asService('recover an account');
    const user = await findUserByEmail(service, email);
    if (user) await mailRecovery(deps, user, request);
  });
  return context.json({});
};
