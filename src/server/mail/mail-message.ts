export type MailMessage = { to: string; subject: string; text: string; html: string };
