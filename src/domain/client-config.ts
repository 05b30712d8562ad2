/** The body of `/config.json`, so that one build serves every installation (docs/specification/api.md 1). */
export type ClientConfig = {
  /** Origin of the auth, data and functions API; an empty string means the page's own origin. */
  apiUrl: string;
  publishableKey: string;
  features: {
    payments: boolean;
    coach: boolean;
    mail: boolean;
    /** A reply to the reminder becomes the log. */
    mailReplies: boolean;
    push: boolean;
    /** False removes the service worker of this browser. */
    serviceWorker: boolean;
  };
  /** The ways to sign in that the operator has turned on. A mail address with a password always works. */
  signIn: {
    /** New accounts can be created. */
    signups: boolean;
    /** `name` is the provider's name in the API, such as `google`; `label` completes "Continue with …". */
    providers: readonly { name: string; label: string }[];
    linking: boolean;
    passkeys: boolean;
    /** One-time codes by mail. */
    mailCodes: boolean;
    /** One-time codes by text message, also as a second factor. */
    phone: boolean;
    sso: boolean;
    /** `scriptUrl` is the script of the provider's captcha widget. */
    captcha: { provider: 'hcaptcha' | 'turnstile'; siteKey: string; scriptUrl: string } | null;
    /** Blockchains whose wallets can sign in. */
    wallets: { ethereum: boolean; solana: boolean };
  };
  /** The coach uses the sandbox's simulated model, so its output must be labelled as simulated. */
  sandboxModel: boolean;
  /**
   * The recipient of the logs in the consent text ("are sent to …"): the model provider's name. Null without a coach.
   */
  coachProvider: string | null;
  /** ISO 3166 alpha-2 codes of countries whose residents cannot pay. */
  paymentBlockedCountries: readonly string[];
  /** The operator's contact data; unset fields are not shown. */
  contact: {
    email?: string;
    supportEmail?: string;
    operator?: string;
    address?: string;
    social: { label: string; url: string }[];
  };
};
