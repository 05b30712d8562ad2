import type { AsService } from '#server/database/database.ts';
import { queryBuilder } from '#server/database/query-builder.ts';

/** The columns of `auth.users` that hold when a mail was last sent to the user: one column per kind of mail. */
export type SentColumn =
  | 'confirmation_sent_at'
  | 'recovery_sent_at'
  | 'reauthentication_sent_at'
  | 'email_change_sent_at'
  | 'existing_account_notice_sent_at'
  | 'phone_change_sent_at'
  | 'magiclink_sent_at'
  | 'new_device_notice_sent_at'
  | 'factor_guess_notice_sent_at';

/**
 * Returns whether a mail of this kind may be sent now. One statement checks the minimum interval and records the time,
 * so only one of two concurrent requests sends. `intervalMs` 0 allows every mail, also when the later of two requests
 * comes first.
 */
export async function claimMail(
  service: AsService,
  claim: { userId: string; column: SentColumn; intervalMs: number; now: Date },
): Promise<boolean> {
  const latest = new Date(claim.now.getTime() - claim.intervalMs);
  const rows = await service.run(
    queryBuilder
      .updateTable('auth.users')
      .set({ [claim.column]: claim.now })
      .where('id', '=', claim.userId)
      .$if(claim.intervalMs > 0, (query) =>
        query.where((row) => row.or([row(claim.column, 'is', null), row(claim.column, '<=', latest)])),
      )
      .returning('id'),
  );
  return rows.length > 0;
}
