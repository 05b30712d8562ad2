/** Authorization requests, codes and access tokens of one simulated provider (RFC 6749 4.1, RFC 7636). */
import { createHash, randomBytes } from 'node:crypto';
import type { IdentityAccount } from './consent-page.ts';

export type Client = { id: string; secret: string };

export type AuthorizationRequest = {
  redirectUri: string;
  state: string | null;
  nonce: string | null;
  scopes: readonly string[];
  /** The PKCE challenge, of method S256; null without PKCE. */
  challenge: string | null;
};

type Grant = { request: AuthorizationRequest; account: IdentityAccount; expiresAt: number };

const CODE_LIFETIME_MS = 600_000;
const CALLBACK_PATH = '/auth/v1/callback';
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns the request, or the problem of a request that cannot be accepted. The provider then shows an error page and
 * does not redirect, because the redirect URI may be an attacker's.
 */
export function parseAuthorizationRequest(
  query: URLSearchParams,
  client: Client,
): AuthorizationRequest | { problem: string } {
  const redirectUri = query.get('redirect_uri') ?? '';
  const url = URL.parse(redirectUri);
  if (query.get('client_id') !== client.id) return { problem: 'The client is not registered.' };
  if (url === null || url.pathname !== CALLBACK_PATH || !LOOPBACK_HOSTS.has(url.hostname))
    return { problem: 'The redirect URI is not registered.' };
  if (query.get('response_type') !== 'code') return { problem: 'The response type is not supported.' };
  const challenge = query.get('code_challenge');
  if (challenge !== null && query.get('code_challenge_method') !== 'S256')
    return { problem: 'The challenge method is not supported.' };
  const scopes = (query.get('scope') ?? '').split(' ').filter((scope) => scope !== '');
  return { redirectUri, state: query.get('state'), nonce: query.get('nonce'), scopes, challenge };
}

export class Grants {
  readonly #codes = new Map<string, Grant>();
  readonly #tokens = new Map<string, Grant>();

  issueCode(request: AuthorizationRequest, account: IdentityAccount): string {
    const code = randomBytes(20).toString('hex');
    this.#codes.set(code, { request, account, expiresAt: Date.now() + CODE_LIFETIME_MS });
    return code;
  }

  /**
   * Null for an unknown, used or expired code, a wrong redirect URI, or a verifier that does not match the challenge.
   * Every attempt uses up the code.
   */
  redeemCode({ code, redirectUri, verifier }: { code: string; redirectUri: string; verifier: string }): Grant | null {
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    if (!grant || grant.expiresAt <= Date.now() || grant.request.redirectUri !== redirectUri) return null;
    const { challenge } = grant.request;
    const computed = createHash('sha256').update(verifier).digest('base64url');
    return challenge === null || challenge === computed ? grant : null;
  }

  issueToken(grant: Grant, prefix: string): string {
    const token = `${prefix}${randomBytes(20).toString('hex')}`;
    this.#tokens.set(token, grant);
    return token;
  }

  /** @param authorization the header of the request */
  findByToken(authorization: string | undefined): Grant | null {
    return this.#tokens.get(/^(?:Bearer|token) (.+)$/i.exec(authorization ?? '')?.[1] ?? '') ?? null;
  }

  clear(): void {
    this.#codes.clear();
    this.#tokens.clear();
  }
}

/** True if the token request has this client's credentials, in the body or in the header (RFC 6749 2.3.1). */
export function isClient(client: Client, form: URLSearchParams, authorization: string | undefined): boolean {
  const encoded = /^Basic (.+)$/i.exec(authorization ?? '')?.[1];
  const [id = '', secret = ''] =
    encoded === undefined
      ? [form.get('client_id') ?? '', form.get('client_secret') ?? '']
      : Buffer.from(encoded, 'base64').toString().split(':').map(decodeURIComponent);
  return id === client.id && secret === client.secret;
}

/** The address that returns the visitor to the product. */
export function returnUrl({ redirectUri, state }: AuthorizationRequest, fields: Record<string, string>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  if (state !== null) url.searchParams.set('state', state);
  return url.href;
}
