/** What a mail consists of before it leaves. */
export type MailMessage = { to: string; subject: string; text: string; html: string };
