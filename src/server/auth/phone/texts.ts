/**
 * The text messages. Threat: a text must not contain user input, or an attacker could send arbitrary words in our name.
 *
 * The last line of a text with a code binds the code to our host (WebOTP), so a phone fills it in on our pages only and
 * not on a phishing page.
 */
type Codes = { code: string; publicUrl: string };

const bindToHost = ({ code, publicUrl }: Codes): string => `@${new URL(publicUrl).hostname} #${code}`;

export const signInText = (given: Codes): string =>
  `Hustle Forge: ${given.code} is your code to sign in. It works for one minute. Never share it.\n\n${bindToHost(given)}`;

export const phoneChangeText = (given: Codes): string =>
  `Hustle Forge: ${given.code} adds this number to the account of the person who asked for it. Use it only if that was you.\n\n${bindToHost(given)}`;

export const reauthenticationText = (given: Codes): string =>
  `Hustle Forge: ${given.code} is your code to change your sign-in. If you did not ask for it, change your password.\n\n${bindToHost(given)}`;

export const secondStepText = (given: Codes): string =>
  `Hustle Forge: ${given.code} is the code for the second step of your sign-in. Never share it. If you did not sign in, change your password.\n\n${bindToHost(given)}`;

export const accountExistsText = (loginLink: string): string =>
  `Hustle Forge: someone tried to sign up with this number, which already has an account. If it was you, sign in: ${loginLink}`;

export const phoneChangedText = (loginLink: string): string =>
  `Hustle Forge: your account now uses another phone number. If this was not you, change your password: ${loginLink}`;
