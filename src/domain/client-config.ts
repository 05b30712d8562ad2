/** What `/config.json` tells the browser at run time, so that one build serves every installation (docs/specification/wire.md 1). */
export type ClientConfig = {
  /** Origin of the auth, data and functions API; an empty text means the page's own origin. */
  apiUrl: string;
  publishableKey: string;
  features: {
    /** Sign-up goes straight in; otherwise a mail asks for confirmation first. */
    autoconfirm: boolean;
    payments: boolean;
    coach: boolean;
    mail: boolean;
    sandbox: boolean;
  };
  /** The coach asks the sandbox's own model, and what it says must be labelled so. */
  sandboxModel: boolean;
  /** Who reads what the coach is asked about, to be put after "are sent to"; null without a coach. */
  coachProvider: string | null;
  /** Two-letter codes of countries whose residents cannot pay. */
  paymentBlockedCountries: readonly string[];
  /** What the operator has set; what is missing is left off the screen. */
  contact: {
    email?: string;
    supportEmail?: string;
    operator?: string;
    address?: string;
    social: { label: string; url: string }[];
  };
};
