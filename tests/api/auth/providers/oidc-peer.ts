/** An OpenID provider that this project did not write: oauth2-mock-server, which approves every request. */
import { randomUUID } from 'node:crypto';
import { Events, OAuth2Server, type JwtTransform } from 'oauth2-mock-server';

type MutableToken = { header: Record<string, unknown>; payload: Record<string, unknown> };

export type OidcPeer = {
  readonly issuer: string;
  readonly server: OAuth2Server;
  /** Settings of a provider named `peer`. */
  readonly settings: Record<string, string>;
  /** The claims of the account that is signed in at the provider, and of ID tokens from now on. */
  claims: Record<string, unknown>;
  /** Changes the next ID token before it is signed. */
  alterToken(change: (token: MutableToken) => void): void;
  /** An ID token for the client, as a native sign-in gets it. */
  idToken(claims: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
};

export const PEER_CLIENT_ID = 'hustle-forge-test';

export async function startOidcPeer(): Promise<OidcPeer> {
  const server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  await server.start(0, 'localhost');
  const issuer = server.issuer.url!;
  let alteration: ((token: MutableToken) => void) | null = null;
  const peer: OidcPeer = {
    issuer,
    server,
    settings: {
      OIDC_PROVIDERS: 'peer',
      OIDC_PEER_ISSUER: issuer,
      OIDC_PEER_LABEL: 'Peer',
      OIDC_PEER_CLIENT_ID: PEER_CLIENT_ID,
      OIDC_PEER_CLIENT_SECRET: 'peer secret',
    },
    claims: {},
    alterToken: (change) => {
      alteration = change;
    },
    idToken: (claims) => {
      const transform: JwtTransform = (_header, payload) =>
        void Object.assign(payload, { aud: PEER_CLIENT_ID, jti: randomUUID() }, peer.claims, claims);
      return server.issuer.buildToken({ scopesOrTransform: transform, expiresIn: 3600 });
    },
    close: () => server.stop(),
  };
  server.service.on(Events.BeforeTokenSigning, (token: MutableToken) => {
    // Only ID tokens are changed. The access token, which is signed first, has no audience.
    if (token.payload['aud'] === undefined) return;
    Object.assign(token.payload, peer.claims);
    alteration?.(token);
    alteration = null;
  });
  return peer;
}
