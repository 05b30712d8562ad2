/**
 * Binds the users' consent to one AI provider. Threat: an operator changes the provider, and journals go to a provider
 * that their owners never agreed to. `profiles.ai_consent` names no provider, so a change of provider resets the column
 * to false, and the user is asked again with the new name.
 */
import type { Database } from '../database/database.ts';
import type { Logger } from '../log.ts';

const READ_PROVIDER = 'select name from public.coach_reader for update';
const SAVE_PROVIDER = `insert into public.coach_reader (name) values ($1)
  on conflict (only_one) do update set name = excluded.name, since = now()`;
const RESET_CONSENT = 'update public.profiles set ai_consent = false where ai_consent';

/** Must run on server start, before anything is sent to `provider`. A server without a coach keeps the stored name. */
export async function resetConsentOnProviderChange(database: Database, provider: string, log: Logger): Promise<void> {
  const accounts = await database.transactAsService('coach provider', async (transaction) => {
    const [stored] = (await transaction.statement<{ name: string }>(READ_PROVIDER, [])).rows;
    if (stored?.name === provider) return 0;
    await transaction.statement(SAVE_PROVIDER, [provider]);
    return stored ? (await transaction.statement(RESET_CONSENT, [])).rowCount : 0;
  });
  if (accounts > 0) log.warn({ accounts, provider }, 'AI provider changed: consent was reset');
}
