/** The advice of security mails to an owner who did not make the change (docs/specification/accounts.md 16). */
import { ROUTES } from '../routes.ts';

/** `services`: the accounts at third parties that sign the owner in, such as "your Google account" or "your wallet". */
export type SignInFacts = { hasPassword: boolean; services: readonly string[] };

export type SecuringAdvice = {
  /** The advice as the end of a sentence, such as "reset your password". */
  words: string;
  /** The page on which the owner follows the advice. */
  page: { path: string; label: string };
  /** Tells the owner to check the services, whose accounts we cannot secure. Null without services. */
  services: string | null;
};

const RESET_PASSWORD = {
  words: 'reset your password, which signs out every other device',
  page: { path: ROUTES.forgotPassword.path, label: 'Reset your password' },
};
/** For an account without a password: setting one would not stop an attacker who signed in another way. */
const SIGN_OUT_DEVICES = {
  words: 'sign out everywhere else on your profile page',
  page: { path: ROUTES.profile.path, label: 'Open your profile' },
};

export const securingAdvice = ({ hasPassword, services }: SignInFacts): SecuringAdvice => ({
  ...(hasPassword ? RESET_PASSWORD : SIGN_OUT_DEVICES),
  services: services.length === 0 ? null : adviceOnServices(services),
});

const adviceOnServices = (services: readonly string[]): string =>
  `Check ${services.join(' and ')} as well, because ${services.length === 1 ? 'it' : 'they'} can sign you in.`;
