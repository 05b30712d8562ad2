/** The texts of notices about second factors, recovery codes and passkeys. Names that users give are left out. */
import type { MailMessage } from './mail-message.ts';
import { renderEmail } from './email-template.ts';
import { securingBlocks, type Securing } from './securing-blocks.ts';

type FactorType = 'totp' | 'phone' | 'webauthn';
type Notice = { to: string; securing: Securing };

const KINDS: Readonly<Record<FactorType, { one: string; many: string }>> = {
  totp: { one: 'an authenticator app', many: 'authenticator apps' },
  phone: { one: 'a phone number', many: 'phone numbers' },
  webauthn: { one: 'a security key', many: 'security keys' },
};

export const factorAddedMail = ({ to, type, securing }: Notice & { type: FactorType }): MailMessage =>
  renderEmail(to, 'Two-step verification was added', [
    `${capitalize(KINDS[type].one)} now confirms your sign-ins. Devices that had not used a second step were signed out.`,
    'Keep your recovery codes in a safe place, in case you lose it. Your profile page can give you new ones.',
    ...securingBlocks(securing),
  ]);

type FactorRemoved = Notice & { type: FactorType; remainingTypes: readonly FactorType[] };

export const factorRemovedMail = ({ to, type, remainingTypes, securing }: FactorRemoved): MailMessage => {
  const removed = capitalize(KINDS[type].one);
  if (remainingTypes.length === 0) {
    return renderEmail(to, 'Two-step verification is off', [
      `${removed} was removed. It was the last one, so your sign-ins need no second step any more, and your recovery codes no longer work.`,
      ...securingBlocks(securing),
    ]);
  }
  return renderEmail(to, `${removed} was removed`, [
    `It no longer confirms your sign-ins. Two-step verification stays on, with ${describeFactors(remainingTypes)}.`,
    ...securingBlocks(securing),
  ]);
};

export const factorPhoneChangedMail = ({ to, securing }: Notice): MailMessage =>
  renderEmail(to, 'The number of your second step was changed', [
    'An administrator changed the phone number that confirms your sign-ins. Codes are texted to the new number.',
    ...securingBlocks(securing),
  ]);

/** Such as `an authenticator app and 2 security keys`. */
function describeFactors(types: readonly FactorType[]): string {
  const kinds = [...new Set(types)].map((type) => {
    const count = types.filter((each) => each === type).length;
    return count === 1 ? KINDS[type].one : `${count} ${KINDS[type].many}`;
  });
  return kinds.length < 2 ? kinds.join('') : `${kinds.slice(0, -1).join(', ')} and ${kinds.at(-1)}`;
}

const capitalize = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

export const recoveryCodeUsedMail = ({ to, remaining, securing }: Notice & { remaining: number }): MailMessage =>
  renderEmail(to, 'A recovery code was used', [
    `Somebody signed in with one of your recovery codes. ${remaining === 1 ? 'One code is' : `${remaining} codes are`} left.`,
    ...securingBlocks(securing),
  ]);

export const factorGuessesMail = ({ to, securing }: Notice): MailMessage =>
  renderEmail(to, 'Somebody enters wrong codes', [
    'Somebody signed in to your account, but did not pass the second step: too many codes were wrong. We let in nobody with this way of signing in for a while.',
    'If it was not you, somebody else can pass your first step, such as your password.',
    ...securingBlocks(securing, 'To lock them out,'),
  ]);

export const passkeyAddedMail = ({ to, securing }: Notice): MailMessage =>
  renderEmail(to, 'A passkey was added', [
    'A new passkey can sign in to your account by itself. You can remove it on your profile page.',
    ...securingBlocks(securing),
  ]);

export const passkeyRemovedMail = ({ to, securing }: Notice): MailMessage =>
  renderEmail(to, 'A passkey was removed', [
    'A passkey can no longer sign in to your account.',
    ...securingBlocks(securing),
  ]);
