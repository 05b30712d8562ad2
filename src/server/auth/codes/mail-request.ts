/** The part of a request that a mailed link needs: where it leads, and the PKCE flow that it finishes. */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import type { Device } from '../http/device.ts';
import type { Challenge } from '../sessions/flows.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { deviceOf } from '../http/client-device.ts';
import { parseChallenge } from '../sessions/pkce.ts';
import { redirectTarget } from '../http/redirects.ts';

export type MailTarget = {
  redirectTo: string;
  /** Null for the implicit flow. */
  challenge: Challenge | null;
};
export type MailRequest = MailTarget & { device: Device };

/** Throws `validation_failed` for a malformed PKCE challenge. */
export const readMailRequest = (context: Context<AppEnv>, deps: AuthDeps, body: Body): MailRequest => ({
  redirectTo: redirectTarget(context, deps.config),
  challenge: parseChallenge(body.text('code_challenge'), body.text('code_challenge_method')),
  device: deviceOf(context, deps),
});
