/**
 * Who reads what the coach is asked about, as users agreed to it. Threat: an operator changes the provider, and what was
 * agreed to for one goes to another. `profiles.ai_consent` says yes or no and to nobody in particular, so with another
 * reader it says no until its owner has seen the new name.
 */
import type { Database } from '../database/database.ts';
import type { Logger } from '../log.ts';

const KNOWN = 'select name from public.coach_reader for update';
const KEEP = `insert into public.coach_reader (name) values ($1)
  on conflict (only_one) do update set name = excluded.name, since = now()`;
const ASK_ANEW = 'update public.profiles set ai_consent = false where ai_consent';

/** Before anything is sent to the reader, so at the start of a server. Without a coach the last one stays written down. */
export async function askAnewForReader(database: Database, reader: string, log: Logger): Promise<void> {
  const accounts = await database.transactAsService('coach reader', async (transaction) => {
    const [known] = (await transaction.statement<{ name: string }>(KNOWN, [])).rows;
    if (known?.name === reader) return 0;
    await transaction.statement(KEEP, [reader]);
    return known ? (await transaction.statement(ASK_ANEW, [])).rowCount : 0;
  });
  if (accounts > 0) log.warn({ accounts, reader }, 'the coach has another reader: who had agreed is asked anew');
}
