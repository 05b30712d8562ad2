/** The command `mail:test`. */
import { recordAuditEvent } from '../auth/accounts/audit-log.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../database/database.ts';
import { createLog } from '../log.ts';
import { renderEmail } from '../mail/email-template.ts';
import { MailRejected, createMailer } from '../mail/mailer.ts';
import { CommandError, withDatabase, type Command } from './command.ts';

export const MAIL_COMMANDS: readonly Command[] = [
  {
    usage: 'mail:test ADDRESS',
    help: ['send a mail with the settings of the server and say whether it was accepted'],
    run: (invocation) => withDatabase(invocation, (database, config) => testMail(database, config, invocation.subject)),
  },
];

async function testMail(database: Database, { mail, publicUrl }: Config, address: string): Promise<string> {
  if (mail.smtpUrl === null) throw new CommandError('Mail is off: SMTP_URL is not set.');
  const mailer = createMailer(mail, createLog('warn'));
  const message = renderEmail(address, 'Mail works', [
    `The operator of ${publicUrl} sent this mail to see whether mail arrives.`,
  ]);
  const failure = await mailer.deliver(message).then(
    () => null,
    (error: unknown) => error,
  );
  await mailer.close();
  await recordAuditEvent(database.asService('test mail'), {
    at: systemClock.now(),
    userId: null,
    actor: 'operator',
    event: 'test_mail_sent',
    details: { accepted: failure === null },
  });
  if (failure === null) return `The mail server accepted a mail from ${mail.from} to ${address}.`;
  throw new CommandError(
    failure instanceof MailRejected
      ? `The mail server rejected the recipient or the content. The log line has its reply code.`
      : `The mail server did not accept the mail. The log line has the reason; check SMTP_URL and MAIL_FROM.`,
    { cause: failure },
  );
}
