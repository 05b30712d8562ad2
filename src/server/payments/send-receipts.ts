/**
 * Mails buyers the result of their payment: a receipt, the decline of a payment that was pending, a refund or a
 * reversal. A trigger of the database sets `payments.mail_due_at` together with the status.
 *
 * Delivery is at least once: `mail_due_at` is cleared when the mail server has accepted the mail. A claim is a lease,
 * so that two servers do not both send. When a server dies, another server sends the mail after the lease.
 */
import { dateLabel, utcDayOf } from '#domain/day/day.ts';
import { moneyLabel, receiptNumber } from '#domain/payment/payment.ts';
import { ROUTES } from '#domain/routes.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { AsService, Database } from '../database/database.ts';
import { queryBuilder } from '../database/query-builder.ts';
import type { Logger } from '../log.ts';
import { MailDeferred, MailRejected, type Mailer } from '../mail/mailer.ts';
import type { MailMessage } from '../mail/email-template.ts';
import { paymentDeclinedMail, paymentReversedMail, receiptMail, refundMail } from '../mail/payment-emails.ts';

type Deps = {
  config: Pick<Config, 'publicUrl' | 'contact'>;
  database: Database;
  clock: Clock;
  log: Logger;
  mailer: Pick<Mailer, 'deliver'>;
};

/** The database's clock sets `mail_due_at`, and the server's clock, which may be this far behind, reads it. */
const CLOCK_SKEW_MS = 60_000;
/** Longer than the mailer waits for the mail server, also on a server whose clock is ahead by `CLOCK_SKEW_MS`. */
const LEASE_MS = CLOCK_SKEW_MS + 2 * 60_000;
/** A run ends after this many mails that have to wait, even if others were accepted: the mail server has trouble. */
const MAX_DEFERRED_PER_RUN = 3;

/** @throws MailDeferred when some mails have to wait. They are due again at the next run. */
export async function sendReceipts(deps: Deps, signal: AbortSignal): Promise<{ mailed: number; dropped: number }> {
  const { mailer, log } = deps;
  const service = deps.database.asService('mail buyers');
  const dueBefore = new Date(deps.clock.now().getTime() + CLOCK_SKEW_MS);
  const count = { mailed: 0, dropped: 0 };
  let failures = 0;
  while (!signal.aborted && failures < MAX_DEFERRED_PER_RUN) {
    const claimed = await claimNext(service, dueBefore, deps.clock.now());
    if (!claimed) break;
    const message = messageAbout(claimed, deps.config);
    const outcome = message === null ? 'no recipient' : await handOver(mailer, message);
    if (outcome === 'failed') {
      failures += 1;
      // The mail moves behind all mails that are due now, so that this run does not try it twice.
      await updateClaimed(service, claimed, { mail_due_at: new Date(dueBefore.getTime() + 1) });
    } else if (outcome === 'accepted') {
      const isReceipt = claimed.status === 'completed';
      await updateClaimed(service, claimed, {
        mail_due_at: null,
        ...(isReceipt && { receipt_mailed_at: deps.clock.now() }),
      });
      count.mailed += 1;
    } else {
      log.warn({ payment: claimed.id, status: claimed.status, outcome }, 'dropped a mail about a payment');
      await updateClaimed(service, claimed, { mail_due_at: null });
      count.dropped += 1;
    }
  }
  if (failures > 0) throw new MailDeferred(`${failures} mails about payments have to wait`);
  return count;
}

async function handOver(mailer: Pick<Mailer, 'deliver'>, message: MailMessage): Promise<Outcome> {
  try {
    await mailer.deliver(message);
    return 'accepted';
  } catch (error) {
    if (error instanceof MailRejected) return 'rejected';
    if (error instanceof MailDeferred) return 'failed';
    throw error;
  }
}
type Outcome = 'accepted' | 'rejected' | 'failed';

type ClaimedPayment = NonNullable<Awaited<ReturnType<typeof claimNext>>>;

async function claimNext(service: AsService, dueBefore: Date, now: Date) {
  const next = queryBuilder
    .selectFrom('payments')
    .select('id')
    .where('mail_due_at', '<=', dueBefore)
    .orderBy('mail_due_at')
    .limit(1)
    .forUpdate()
    .skipLocked();
  const [claimed] = await service.run(
    queryBuilder
      .updateTable('payments')
      .set({ mail_due_at: new Date(now.getTime() + LEASE_MS) })
      .where('id', '=', next)
      .returning(['id', 'user_id', 'order_id', 'amount_minor', 'currency', 'status', 'completed_at', 'mail_due_at']),
  );
  if (!claimed) return null;
  const [buyer] = await service.run(
    queryBuilder.selectFrom('auth.users').select('email').where('id', '=', claimed.user_id),
  );
  const [grant] = await service.run(
    queryBuilder
      .selectFrom('plan_changes')
      .select('access_valid_until')
      .where('user_id', '=', claimed.user_id)
      .where('payment_id', '=', claimed.id)
      .where('reason', '=', 'payment'),
  );
  return { ...claimed, email: buyer?.email ?? null, validUntil: grant?.access_valid_until ?? null };
}

/** No-op if the status has changed since: the new status has its own `mail_due_at`. */
async function updateClaimed(
  service: AsService,
  { id, mail_due_at: lease }: ClaimedPayment,
  change: { mail_due_at: Date | null; receipt_mailed_at?: Date },
): Promise<void> {
  await service.run(
    queryBuilder.updateTable('payments').set(change).where('id', '=', id).where('mail_due_at', '=', lease),
  );
}

/** Null when the account is gone or has no email address, or the status needs no mail. */
function messageAbout(payment: ClaimedPayment, { publicUrl, contact }: Deps['config']): MailMessage | null {
  const { id, email, order_id: orderId, amount_minor: amountMinor, currency, status, validUntil } = payment;
  if (email === null || orderId === null) return null;
  const amount = `${moneyLabel(amountMinor, currency)} ${currency}`;
  const profileLink = publicUrl + ROUTES.profile.path;
  const given = { to: email, amount, orderId, profileLink, contact: contact.supportEmail ?? contact.email ?? null };
  if (status === 'declined') return paymentDeclinedMail(given);
  if (status === 'refunded') return refundMail(given);
  if (status === 'reversed') return paymentReversedMail(given);
  if (status !== 'completed' || payment.completed_at === null) return null;
  const paidOn = utcDayOf(payment.completed_at);
  return receiptMail({
    ...given,
    number: receiptNumber(id, paidOn),
    paidOn: dateLabel(paidOn),
    validUntil: validUntil === null ? null : dateLabel(validUntil),
    receiptLink: `${publicUrl}${ROUTES.receipt.path}?payment=${id}`,
  });
}
