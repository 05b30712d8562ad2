/** DELETE /factors/{id}: removes a second factor (docs/specification/wire.md 31). */
import type { Endpoint } from '../http/auth-deps.ts';
import { lockUser } from '../accounts/accounts.ts';
import { mailFactorRemoved } from './factor-mails.ts';
import { deviceOf } from '../http/client-device.ts';
import { AuthError } from '../http/errors.ts';
import { requireLiveSession } from '../sessions/require-user.ts';
import { removeFactor } from './factor-store.ts';
import { requireFactor, requireFactorUser, requireRecentSignIn } from './require-factor-user.ts';

export const unenroll: Endpoint = async (context, deps) => {
  const device = deviceOf(context, deps);
  await deps.limits.consume('factor', device.ip);
  const user = await requireFactorUser(context, deps);
  const { id, status } = await requireFactor(context, deps, user);
  if (status === 'verified') {
    if (user.session.aal === 'aal1') throw new AuthError('unenroll_needs_second_step');
    await requireRecentSignIn(deps, user, '');
  }
  await deps.limits.consumeChange(user);
  const userId = user.account.user.id;
  const removed = await deps.database.transactAsService('remove a factor', async (transaction) => {
    await lockUser(transaction, userId);
    await requireLiveSession(transaction, user.session);
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
