/** Logs in to the mail server and, if asked, sends a mail. */
import type { Config } from '#server/config/config.ts';
import { createLog } from '#server/log.ts';
import { renderEmail } from '#server/mail/email-template.ts';
import { createMailer, greetMailServer } from '#server/mail/mailer.ts';
import { fault, off, ok, warning, type Check, type Finding } from '../../check.ts';
import { describeFailure } from '../../request.ts';

const MAIL_TIMEOUT_MS = 25_000;

/** @param address null: only connects and logs in */
export const mailCheck = ({ mail, publicUrl, sandbox }: Config, address: string | null): Check => ({
  name: 'mail',
  timeoutMs: MAIL_TIMEOUT_MS,
  async run() {
    const { smtpUrl, from, tls } = mail;
    if (smtpUrl === null && sandbox.on) return [off('the sandbox keeps all mail: SMTP_URL is not set')];
    if (smtpUrl === null) {
      return [warning('SMTP_URL is not set', 'Without mail nobody can reset a password: set SMTP_URL and MAIL_FROM.')];
    }
    try {
      await greetMailServer(smtpUrl, tls);
    } catch (error) {
      return [describeMailFailure(error)];
    }
    if (address === null) return [ok('the mail server accepts the login; --mail ADDRESS also sends a mail')];
    let outcome = '';
    // `MailDeferred` does not say why. The mailer's log line has the mail server's reply code.
    const mailer = createMailer(mail, createLog('warn', { write: (line) => void (outcome += line) }));
    const lines = [`The operator of ${publicUrl} sent this mail to see whether mail arrives.`];
    const failed = await mailer.deliver(renderEmail(address, 'Mail works', lines)).then(
      () => false,
      () => true,
    );
    await mailer.close();
    if (!failed)
      return [ok(`the mail server accepted a mail from ${from} to ${address}: check that it arrives, and not as spam`)];
    const code = /"responseCode":(\d+)/.exec(outcome)?.[1];
    const command = /"command":"([A-Z ]+)"/.exec(outcome)?.[1];
    return [
      fault(
        `the mail server refused the mail${code === undefined ? '' : ` with ${code}`}${command === undefined ? '' : ` at ${command}`}`,
        `At MAIL FROM it does not accept MAIL_FROM (${from}) for this login; at RCPT TO it does not accept ${address}.`,
      ),
    ];
  },
});

function describeMailFailure(error: unknown): Finding {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  if (code === 'EAUTH')
    return fault(
      `the mail server refuses the login (${responseCode ?? 'no code'})`,
      'Check user and password in SMTP_URL.',
    );
  if (code === 'ETLS')
    return fault(
      'the mail server offers no encryption',
      'Use smtps:// and port 465, or a server with STARTTLS; SMTP_TLS=off for a relay on a private network.',
    );
  const { problem } = describeFailure(error);
  return fault(
    `the mail server: ${problem}`,
    'Check host and port in SMTP_URL (smtps:// for port 465, smtp:// for 587 and 25), and whether a firewall blocks the port.',
  );
}
