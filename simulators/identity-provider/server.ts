/** Serves the simulated sign-in providers over HTTP: an OpenID provider in the place of Google, and GitHub. */
import { Hono } from 'hono';
import { serveApp } from '../host.ts';
import { FaultQueue } from '../faults.ts';
import { applyFaults, type IdentityEnv, type IdentityFault } from './faults.ts';
import { GITHUB_CLIENT, githubRoutes } from './github-provider.ts';
import { Grants } from './grants.ts';
import { createIdTokenSigner, GOOGLE_CLIENT, openidRoutes } from './openid-provider.ts';

/** Below `/sandbox`, so that the browser reaches the consent pages through the product's origin. */
const BASE_PATH = '/sandbox/identity';

/** Environment variables that point the product at the simulators. */
export type IdentitySettings = Record<
  | 'GOOGLE_ISSUER'
  | 'GOOGLE_CLIENT_ID'
  | 'GOOGLE_CLIENT_SECRET'
  | 'GITHUB_ISSUER'
  | 'GITHUB_API_BASE'
  | 'GITHUB_CLIENT_ID'
  | 'GITHUB_CLIENT_SECRET',
  string
>;

export type IdentityControl = {
  /** Queues a fault. */
  fail(fault: IdentityFault): void;
  /** An ID token of the simulated Google, as a native sign-in gets it; `claims` override those of the client. */
  idToken(claims: Record<string, unknown>): Promise<string>;
  /** Drops faults, codes and tokens. */
  reset(): void;
};

export type IdentityApp = {
  readonly app: Hono<IdentityEnv>;
  readonly control: IdentityControl;
  /**
   * Returns the settings for the product, and sets the addresses in the providers' answers.
   *
   * @param baseUrl the URL at which the product's server reaches the simulators
   * @param publicUrl the URL at which the browser does
   */
  settingsAt(baseUrl: string, publicUrl: string): IdentitySettings;
};

/** An app to mount into another server at its root. */
export function createIdentityApp(): IdentityApp {
  const [googleGrants, githubGrants, signer] = [new Grants(), new Grants(), createIdTokenSigner()];
  const faults = new FaultQueue<IdentityFault>();
  let addresses = { issuer: '', pages: '' };
  const control: IdentityControl = {
    fail: (fault) => faults.add(fault),
    idToken: (claims) =>
      signer.sign({ iss: addresses.issuer, aud: GOOGLE_CLIENT.id, azp: GOOGLE_CLIENT.id, ...claims }),
    reset() {
      faults.clear();
      googleGrants.clear();
      githubGrants.clear();
    },
  };

  const app = new Hono<IdentityEnv>();
  app.use(`${BASE_PATH}/*`, applyFaults(faults, BASE_PATH));
  app.post(`${BASE_PATH}/__simulator/fail`, async (context) => {
    control.fail(await context.req.json<IdentityFault>());
    return context.body(null, 204);
  });
  app.post(`${BASE_PATH}/__simulator/reset`, (context) => {
    control.reset();
    return context.body(null, 204);
  });
  app.route(`${BASE_PATH}/google`, openidRoutes({ addresses: () => addresses, grants: googleGrants, signer }));
  app.route(`${BASE_PATH}/github`, githubRoutes(githubGrants));

  return {
    app,
    control,
    settingsAt(baseUrl, publicUrl) {
      addresses = { issuer: `${baseUrl}${BASE_PATH}/google`, pages: `${publicUrl}${BASE_PATH}/google` };
      return {
        GOOGLE_ISSUER: addresses.issuer,
        GOOGLE_CLIENT_ID: GOOGLE_CLIENT.id,
        GOOGLE_CLIENT_SECRET: GOOGLE_CLIENT.secret,
        // GitHub's pages and its token endpoint share one origin. So the product's server reaches the token endpoint
        // through its own proxy of `/sandbox`.
        GITHUB_ISSUER: `${publicUrl}${BASE_PATH}/github`,
        GITHUB_API_BASE: `${baseUrl}${BASE_PATH}/github/api`,
        GITHUB_CLIENT_ID: GITHUB_CLIENT.id,
        GITHUB_CLIENT_SECRET: GITHUB_CLIENT.secret,
      };
    },
  };
}

export type IdentityServer = {
  readonly url: string;
  readonly control: IdentityControl;
  readonly settings: IdentitySettings;
  close(): Promise<void>;
};

/** Starts a server on a free loopback port, for tests. */
export async function startIdentityServer(): Promise<IdentityServer> {
  const { app, control, settingsAt } = createIdentityApp();
  const host = await serveApp(app);
  return { url: host.url, control, settings: settingsAt(host.url, host.url), close: host.close };
}
