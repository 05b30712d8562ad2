/**
 * The texts of account emails. Threat: an email must not contain user input other than addresses, or an attacker could
 * send arbitrary text through our server.
 */
import { renderEmail, securingBlocks, type MailMessage, type Securing } from './email-template.ts';

const ENTER_CODE = 'If you were asked for a code, enter this one:';
const EXPIRY = 'The link and the code work once and expire in one hour.';
const IGNORE = 'If you did not ask for this, ignore this email.';

type WithCode = { to: string; link: string; code: string };
type Notice = { to: string; securing: Securing };

export const confirmAddressMail = ({ to, link, code }: WithCode): MailMessage =>
  renderEmail(to, 'Confirm your email address', [
    'Confirm that this address is yours to open your journal.',
    { link, label: 'Confirm this address' },
    ENTER_CODE,
    { code },
    `${EXPIRY} ${IGNORE}`,
  ]);

export const signInMail = ({ to, link, code }: WithCode): MailMessage =>
  renderEmail(to, 'Sign in to your journal', [
    'You asked to sign in by email. This link signs you in:',
    { link, label: 'Sign in' },
    ENTER_CODE,
    { code },
    `${EXPIRY} Do not share them: whoever has one can open your journal. ${IGNORE}`,
  ]);

export const invitationMail = ({ to, link, code }: WithCode): MailMessage =>
  renderEmail(to, 'You are invited to Hustle Forge', [
    'The operator of this journal has made an account for your address. Accept the invitation to open it:',
    { link, label: 'Accept the invitation' },
    ENTER_CODE,
    { code },
    'The link and the code work once and expire in one day. If you do not want an account, ignore this email.',
  ]);

type AccountExists = { to: string; loginLink: string; resetLink: string; hasPassword: boolean };

export const accountExistsMail = ({ to, loginLink, resetLink, hasPassword }: AccountExists): MailMessage =>
  renderEmail(to, 'You already have an account', [
    'Someone tried to sign up with this email address, or to move another account to it. The address already has an account, so nothing has changed.',
    'If it was you, sign in:',
    { link: loginLink, label: 'Sign in' },
    ...(hasPassword
      ? ['Forgot your password? Reset it:', { link: resetLink, label: 'Reset your password' }]
      : ['Your account has no password. Sign in the way you did before.']),
    'If it was not you, ignore this email. They were not told that you have an account.',
  ]);

export const recoveryMail = ({ to, link, code }: WithCode): MailMessage =>
  renderEmail(to, 'Reset your password', [
    'You asked to reset your password. Choose a new one here:',
    { link, label: 'Choose a new password' },
    ENTER_CODE,
    { code },
    `${EXPIRY} ${IGNORE} Your password stays the same.`,
  ]);

export const reauthenticationMail = ({ to, code, securing }: Notice & { code: string }): MailMessage =>
  renderEmail(to, 'Your confirmation code', [
    'Enter this code to change your password or your email address:',
    { code },
    'The code works once and expires in one hour.',
    'If you did not ask for it, someone else may be signed in to your account.',
    ...securingBlocks(securing, 'To lock them out,'),
  ]);

type AddressChange = WithCode & { newEmail: string; securing: Securing };

export const confirmOldAddressMail = ({ to, newEmail, link, code, securing }: AddressChange): MailMessage =>
  renderEmail(to, 'Confirm the change of your email address', [
    `You asked to change your email address from this one to ${newEmail}. Both addresses must confirm the change. This is the link for your current address:`,
    { link, label: 'Confirm the change' },
    ENTER_CODE,
    { code },
    EXPIRY,
    ...securingBlocks(securing, 'If you did not ask for this, do not confirm it, and'),
  ]);

export const addAddressMail = ({ to, link, code }: WithCode): MailMessage =>
  renderEmail(to, 'Confirm your email address', [
    'You asked to use this email address for your journal. Confirm that it is yours:',
    { link, label: 'Confirm this address' },
    ENTER_CODE,
    { code },
    `${EXPIRY} ${IGNORE}`,
  ]);

export const confirmNewAddressMail = ({ to, link, code }: WithCode): MailMessage =>
  renderEmail(to, 'Confirm your new email address', [
    'You asked to change your email address to this one. Both addresses must confirm the change. This is the link for your new address:',
    { link, label: 'Confirm this address' },
    ENTER_CODE,
    { code },
    `${EXPIRY} ${IGNORE}`,
  ]);

/** @param change `settingsLink`: null without read-only links */
export const passwordChangedMail = ({ to, securing, settingsLink }: Notice & { settingsLink: string | null }) =>
  renderEmail(to, 'Your password was changed', [
    'The password of your account was changed, and every other device was signed out.',
    ...securingBlocks(securing),
    ...(settingsLink === null
      ? []
      : [
          'Your read-only links still show your documents and reviews. Your settings list and end them:',
          { link: settingsLink, label: 'See your links' },
        ]),
  ]);

type NewDevice = Notice & { device: string; at: string; profileLink: string };

/** @param signIn `device` in the words of `describeDevice`, never a header */
export const newDeviceMail = (signIn: NewDevice): MailMessage =>
  renderEmail(signIn.to, 'New sign-in to your journal', [
    'Someone signed in to your account on a device that has not signed in before, or that has removed its cookies:',
    `${signIn.device}, ${signIn.at}`,
    'If it was you, there is nothing to do.',
    ...securingBlocks(signIn.securing),
    'Your profile lists the devices that are signed in:',
    { link: signIn.profileLink, label: 'See your devices' },
  ]);

type IdentityChange = Notice & { label: string };

/** The advice names no services that sign the owner in: the new one among them may be a stranger's account. */
export const identityLinkedMail = ({ to, label, profileLink, securing }: IdentityChange & { profileLink: string }) =>
  renderEmail(to, `${label} can now sign you in`, [
    `You can now sign in to your account with ${label}, too.`,
    ...securingBlocks({ ...securing, services: null }),
    'Then remove the sign-in from your profile:',
    { link: profileLink, label: 'See your sign-ins' },
  ]);

export const phoneChangedMail = ({ to, securing }: Notice): MailMessage =>
  renderEmail(to, 'Your phone number was changed', [
    'A new phone number was confirmed for your account. Codes sent to it sign in to your journal.',
    ...securingBlocks(securing),
    'Then set your own number again.',
  ]);

export const identityUnlinkedMail = ({ to, label, securing }: IdentityChange): MailMessage =>
  renderEmail(to, 'A sign-in was removed from your account', [
    `You can no longer sign in with ${label}. Devices that were signed in that way have been signed out.`,
    ...securingBlocks(securing),
  ]);

type AccountClaimed = { to: string; resetLink: string; profileLink: string };

/** Lists every kind of sign-in, not those that the account had: some of them may be a stranger's. */
export const accountClaimedMail = ({ to, resetLink, profileLink }: AccountClaimed): MailMessage =>
  renderEmail(to, 'Your account is yours alone now', [
    'You have proven for the first time that this address is yours. Until then anybody could have signed up with it, so we removed every earlier way to sign in: the password, passkeys, two-step verification, linked sign-ins and the phone number. All other devices were signed out. Your logs are all there.',
    'Choose a new password:',
    { link: resetLink, label: 'Choose a password' },
    'Set up passkeys and two-step verification again on your profile page:',
    { link: profileLink, label: 'Open my profile' },
    'If you find logs that you did not write, somebody else wrote them before. They can no longer read your journal.',
  ]);

type AddressChanged = { to: string; newEmail: string; contact: string | null };

export const emailChangedMail = ({ to, newEmail, contact }: AddressChanged): MailMessage =>
  renderEmail(to, 'Your email address was changed', [
    `You now sign in with ${newEmail}. You can no longer sign in with this address.`,
    `If it was not you, ${contact === null ? 'contact the operator of this journal' : `write to ${contact}`} at once.`,
  ]);

type DeletionRequested = Notice & { undoLink: string; loginLink: string };

export const deletionRequestedMail = ({ to, undoLink, loginLink, securing }: DeletionRequested): MailMessage =>
  renderEmail(to, 'Your account will be deleted in one hour', [
    'You asked to delete your account. In one hour, every log and everything else in it is gone for good.',
    'Changed your mind, or was it not you? Keep the account:',
    { link: undoLink, label: 'Keep my account' },
    'Signing in keeps the account too:',
    { link: loginLink, label: 'Sign in' },
    ...securingBlocks(securing, 'If it was not you, keep the account. Then'),
  ]);

export const deletionUndoneMail = ({ to, securing }: Notice): MailMessage =>
  renderEmail(to, 'Your account will not be deleted', [
    'The deletion of your account was undone. All your logs are still there.',
    'If it was not you, someone else can sign in to your account.',
    ...securingBlocks(securing, 'To lock them out,'),
  ]);

export const accountDeletedMail = ({ to }: { to: string }): MailMessage =>
  renderEmail(to, 'Your account was deleted', [
    'Your account and all its logs are gone. We keep your payments as figures that no longer name you.',
    'This is our last email to you.',
  ]);

// Notices about second factors, recovery codes and passkeys. Names that users give are left out.

type FactorType = 'totp' | 'phone' | 'webauthn';

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

export const recoveryCodesCreatedMail = ({ to, securing }: Notice): MailMessage =>
  renderEmail(to, 'New recovery codes', [
    'New recovery codes were made for your account. Each replaces a second step once, and earlier codes no longer work.',
    ...securingBlocks(securing),
  ]);

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

export const tokenCreatedMail = ({ to, securing, settingsLink }: Notice & { settingsLink: string }): MailMessage =>
  renderEmail(to, 'A new access token', [
    'An access token was made for your account: a program can use it to add to your journal, or to read it if it was made for that.',
    'Your settings list all tokens, with what each may do, and end them:',
    { link: settingsLink, label: 'See your access tokens' },
    ...securingBlocks(securing),
  ]);

export const slackLinkedMail = ({ to, securing, settingsLink }: Notice & { settingsLink: string }): MailMessage =>
  renderEmail(to, 'Slack was linked', [
    'A Slack user was linked to your account and can add to your journal, but not read it.',
    'Your settings list all linked Slack users, and end their links:',
    { link: settingsLink, label: 'See your Slack links' },
    ...securingBlocks(securing),
  ]);

export const passkeyRemovedMail = ({ to, securing }: Notice): MailMessage =>
  renderEmail(to, 'A passkey was removed', [
    'A passkey can no longer sign in to your account.',
    ...securingBlocks(securing),
  ]);
