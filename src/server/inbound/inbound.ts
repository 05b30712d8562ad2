/**
 * Types and limits of inbound mail, for the SMTP listener, the webhooks and `receive-reply.ts`. That file and its
 * libraries take 5 MB, so they are loaded only where mail is received.
 */

/** Room for a reply with the quoted mail and the picture of a signature. Larger mails are refused. */
export const MAX_MAIL_BYTES = 1024 * 1024;

export const LOCAL_PART = 'log';

/** The address that a reply with this token goes to. */
export const replyAddress = (domain: string, token: string): string => `${LOCAL_PART}+${token}@${domain}`;

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();

/** How a mail arrived by SMTP. */
type Arrival = { ip: string; helo: string; mailFrom: string };
/** The domain of the envelope's sender, for which the provider of a webhook has found that SPF passes. */
type ProvenEnvelope = { spfDomain: string };

export type InboundMail = {
  raw: Buffer;
  /** The addresses of the envelope. */
  recipients: readonly string[];
  /** Null: nothing is known that SPF could check. */
  arrival: Arrival | ProvenEnvelope | null;
};

/**
 * `stored`; `told`: not stored, and the user was told why; `repeated`: stored before; `refused`: dropped without an
 * answer; `later`: the sender should try again.
 */
export type Outcome = 'stored' | 'told' | 'repeated' | 'refused' | 'later';

export type Inbound = {
  /** Whether this is a reply address with a valid token. @throws an error of the database */
  isKnownAddress(address: string): Promise<boolean>;
  receive(mail: InboundMail): Promise<Outcome>;
};
