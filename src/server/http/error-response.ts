/**
 * Error responses that no API defines: unknown paths, methods and hosts, oversized bodies, an unreachable sandbox,
 * unexpected failures. One format serves every client: auth-js reads `code` and `message`, postgrest-js also `details`
 * and `hint`.
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from './app-env.ts';

const ERRORS = {
  not_found: { status: 404, message: 'There is nothing at this address' },
  method_not_allowed: { status: 405, message: 'This address is not called with this method' },
  misdirected_request: { status: 421, message: 'This server does not answer for that host name' },
  payload_too_large: { status: 413, message: 'The request is too large' },
  sandbox_unreachable: { status: 502, message: 'The sandbox does not answer' },
  unexpected_failure: { status: 500, message: 'Something went wrong on our side' },
} as const satisfies Record<string, { status: ContentfulStatusCode; message: string }>;

export function errorResponse(context: Context<AppEnv>, code: keyof typeof ERRORS): Response {
  const { status, message } = ERRORS[code];
  return context.json({ code, message, details: null, hint: null }, status);
}

/** Whether the client disconnected before it sent the whole request. */
export function isClientDisconnected<E extends AppEnv>(context: Context<E>): boolean {
  const incoming = context.env?.incoming;
  return incoming !== undefined && incoming.destroyed && !incoming.complete;
}
