/**
 * The texts of account mails: short, second person. Threat: a mail must not contain user input other than addresses, or
 * an attacker could send arbitrary text through our server.
 */
import type { MailMessage } from './mail-message.ts';
import { renderEmail } from './email-template.ts';

const VALID = 'It works once, within the hour.';
const NOT_YOU = 'Not you? Then do nothing.';

type WithCode = { to: string; link: string; code: string };

export const confirmAddressMail = ({ to, link, code }: WithCode): MailMessage =>
  renderEmail(to, 'Confirm your address', [
    'Say that this address is yours, and your journal is open.',
    { link, label: 'Confirm this address' },
    'Asked for a code? Type this one:',
    { code },
    `${VALID} ${NOT_YOU}`,
  ]);

export const accountExistsMail = (given: { to: string; loginLink: string; resetLink: string }): MailMessage =>
  renderEmail(given.to, 'You already have an account', [
    'Somebody asked for a new account, or for a move of one, with this address. It has an account already, so nothing was changed.',
    'If it was you, sign in:',
    { link: given.loginLink, label: 'Sign in' },
    'Forgot the password? Choose a new one:',
    { link: given.resetLink, label: 'Choose a new password' },
    'Not you? Then do nothing. They were not told that you are here.',
  ]);

export const recoveryMail = ({ to, link, code }: WithCode): MailMessage =>
  renderEmail(to, 'Choose a new password', [
    'You asked for a new password. Choose it here:',
    { link, label: 'Choose a new password' },
    'Asked for a code? Type this one:',
    { code },
    `${VALID} ${NOT_YOU} Your password stays as it is.`,
  ]);

export const reauthenticationMail = ({ to, code }: { to: string; code: string }): MailMessage =>
  renderEmail(to, 'Your code', [
    'Type this code to change your password or your address:',
    { code },
    `${VALID} Not you? Then somebody is signed in as you: sign in, and log out everywhere.`,
  ]);

export const confirmOldAddressMail = ({ to, newEmail, link, code }: WithCode & { newEmail: string }): MailMessage =>
  renderEmail(to, 'Confirm your move to another address', [
    `You asked to move your journal from this address to ${newEmail}. Both addresses must agree. This is the old one:`,
    { link, label: 'Agree to the move' },
    'Asked for a code? Type this one:',
    { code },
    `${VALID} Not you? Then do nothing, and change your password.`,
  ]);

export const confirmNewAddressMail = ({ to, link, code }: WithCode): MailMessage =>
  renderEmail(to, 'Confirm your new address', [
    'You asked to move your journal to this address. Both addresses must agree. This is the new one:',
    { link, label: 'Confirm this address' },
    'Asked for a code? Type this one:',
    { code },
    `${VALID} ${NOT_YOU}`,
  ]);

export const passwordChangedMail = ({ to, resetLink }: { to: string; resetLink: string }): MailMessage =>
  renderEmail(to, 'Your password was changed', [
    'The password of your journal was changed, and every other device was signed out.',
    'Not you? Choose a new one now:',
    { link: resetLink, label: 'Choose a new password' },
  ]);

type AddressChanged = { to: string; newEmail: string; contact: string | null };

export const emailChangedMail = ({ to, newEmail, contact }: AddressChanged): MailMessage =>
  renderEmail(to, 'Your address was changed', [
    `Your journal now belongs to ${newEmail}. This address no longer signs in.`,
    contact === null ? 'Not you? Tell whoever runs this journal at once.' : `Not you? Write to ${contact} at once.`,
  ]);
