/** The texts of notices about second factors, recovery codes and passkeys. Names that users give are left out. */
import type { MailMessage } from './mail-message.ts';
import { renderEmail } from './email-template.ts';

type Notice = { to: string; resetLink: string };
type FactorNotice = Notice & { type: 'totp' | 'phone' | 'webauthn' };

const KINDS = { totp: 'An authenticator app', phone: 'A phone number', webauthn: 'A security key' } as const;

const notMe = (resetLink: string) =>
  ['If it was not you, reset your password now:', { link: resetLink, label: 'Reset your password' }] as const;

export const factorAddedMail = ({ to, resetLink, type }: FactorNotice): MailMessage =>
  renderEmail(to, 'Two-step verification was added', [
    `${KINDS[type]} now confirms your sign-ins. Devices that had not used a second step were signed out.`,
    'Keep your recovery codes in a safe place, in case you lose it. Your profile page can give you new ones.',
    ...notMe(resetLink),
  ]);

export const factorRemovedMail = ({ to, resetLink, type }: FactorNotice): MailMessage =>
  renderEmail(to, 'Two-step verification was removed', [
    `${KINDS[type]} no longer confirms your sign-ins.`,
    ...notMe(resetLink),
  ]);

export const recoveryCodeUsedMail = ({ to, resetLink, remaining }: Notice & { remaining: number }): MailMessage =>
  renderEmail(to, 'A recovery code was used', [
    `Somebody signed in with one of your recovery codes. ${remaining === 1 ? 'One code is' : `${remaining} codes are`} left.`,
    ...notMe(resetLink),
  ]);

export const factorGuessesMail = ({ to, resetLink }: Notice): MailMessage =>
  renderEmail(to, 'Somebody enters wrong codes', [
    'Somebody signed in to your account, but did not pass the second step: too many codes were wrong. We let in nobody with this way of signing in for a while.',
    'If it was not you, somebody knows your password. Reset it now:',
    { link: resetLink, label: 'Reset your password' },
  ]);

export const passkeyAddedMail = ({ to, resetLink }: Notice): MailMessage =>
  renderEmail(to, 'A passkey was added', [
    'A new passkey can sign in to your account without your password. You can remove it on your profile page.',
    ...notMe(resetLink),
  ]);

export const passkeyRemovedMail = ({ to, resetLink }: Notice): MailMessage =>
  renderEmail(to, 'A passkey was removed', ['A passkey can no longer sign in to your account.', ...notMe(resetLink)]);
