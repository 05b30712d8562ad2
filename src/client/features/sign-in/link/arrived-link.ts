/** The link that opened the page: from a mail, or the return from a provider. */
import { useState } from 'react';
import { FLOWS, type Flow } from '#client/lib/api/pkce-auth.ts';
import { clearAuthLink } from '#client/lib/boot/auth-link.ts';

const TYPES = ['signup', 'email_change', 'recovery', 'magiclink', 'invite', 'email'] as const;
type LinkType = (typeof TYPES)[number];

/** The flow that the URL names (`flowReturnUrl`). `provider` is empty for single sign-on, or if the URL lacks it. */
type ProviderFlow = { flow: Flow; provider: string };

export type MailLink =
  /** Consumed only after a click, because mail scanners open every link (docs/specification/accounts.md 8). */
  | { kind: 'hash'; type: LinkType; tokenHash: string }
  /** A session, in the format of hosted Supabase. */
  | { kind: 'tokens'; type: LinkType; access_token: string; refresh_token: string }
  /** The first of the two links of an address change was accepted. */
  | { kind: 'firstConfirmed' }
  | { kind: 'error'; code: string };

export type ProviderReturn =
  | ({ kind: 'code'; code: string; flowId: string | null } & ProviderFlow)
  | ({ kind: 'providerError'; code: string } & ProviderFlow);

type ArrivedLink = MailLink | ProviderReturn;

/** Codes of provider errors that the server returns without `flowReturnUrl`, because it does not know the flow. */
const UNMARKED_PROVIDER_ERROR = /^(bad_oauth_\w+|flow_state_already_used)$/;

/** Threat: anyone can write a link, so text from the query is never shown. */
export function readArrivedLink(query: string): ArrivedLink {
  const values = new URLSearchParams(query);
  const type = TYPES.find((known) => known === values.get('type')) ?? 'magiclink';
  const [access_token, refresh_token] = [values.get('access_token'), values.get('refresh_token')];
  const tokenHash = values.get('token_hash');
  const code = values.get('code');
  const error = values.get('error_code') ?? values.get('error');
  const flow = FLOWS.find((known) => known === values.get('flow'));
  const provider = values.get('provider') ?? '';
  if (error !== null && (flow || UNMARKED_PROVIDER_ERROR.test(error))) {
    return { kind: 'providerError', code: error, flow: flow ?? 'signIn', provider };
  }
  if (error !== null) return { kind: 'error', code: error };
  if (code) return { kind: 'code', code, flowId: values.get('sb_flow_id'), flow: flow ?? 'signIn', provider };
  if (access_token && refresh_token) return { kind: 'tokens', type, access_token, refresh_token };
  if (tokenHash) return { kind: 'hash', type, tokenHash };
  return values.has('message') ? { kind: 'firstConfirmed' } : { kind: 'error', code: '' };
}

/** The link that the page was opened with, until it is used or dropped. */
export function useArrivedLink(): { link: ArrivedLink | null; drop: () => void } {
  const [link, setLink] = useState(() =>
    globalThis.hustleForgeAuthLink === undefined ? null : readArrivedLink(globalThis.hustleForgeAuthLink),
  );
  const drop = (): void => {
    clearAuthLink();
    setLink(null);
  };
  return { link, drop };
}
