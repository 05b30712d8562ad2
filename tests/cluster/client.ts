/** A browser's side of HTTP: connections from an address of its own to the balancer, and an account. */
import { Agent, request as httpsRequest } from 'node:https';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { readResponse, type ServerRequest, type ServerResponse } from '../world/server/world-server.ts';
import { HOST_NAME } from './front.ts';
import { addressOf, clientAddress } from './network.ts';

export type Client = {
  /** Rejects if no answer arrives. */
  send(request: ServerRequest, timeoutMs?: number): Promise<ServerResponse>;
  close(): void;
};

/** Longer than `REQUEST_TIMEOUT_MS` of entry-transport.ts, so that a simulated page gives up first. */
const TIMEOUT_MS = 30_000;

export function createClient(index: number, certificate: string): Client {
  const agent = new Agent({ keepAlive: true, ca: certificate, servername: HOST_NAME });
  return {
    send: ({ method, path, headers, body }, timeoutMs = TIMEOUT_MS) =>
      new Promise((resolve, reject) => {
        const request = httpsRequest(
          {
            agent,
            host: addressOf('balancer'),
            localAddress: clientAddress(index),
            method,
            path,
            headers: { host: HOST_NAME, ...headers },
            signal: AbortSignal.timeout(timeoutMs),
          },
          (response) => resolve(readResponse(response)),
        );
        request.on('error', reject);
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}

export type Session = { access_token: string; user: { id: string } };

/** Creates an account with a session. */
export async function signUp(client: Client, name: string): Promise<Session> {
  const { status, text } = await client.send({
    method: 'POST',
    path: '/auth/v1/signup',
    headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${name}@example.com`, password: 'correct horse', data: { name: 'Ada Smith' } }),
  });
  if (status !== 200) throw new Error(`cannot create an account: ${String(status)} ${text}`);
  return JSON.parse(text) as Session;
}
