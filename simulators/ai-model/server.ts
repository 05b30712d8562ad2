/** Serves the model simulator over HTTP: three protocols, a page with all requests, and the control endpoints. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { controlRoutes } from './control.ts';
import { readModels } from './models.ts';
import { requestsPage } from './page.ts';
import {
  ConnectionBroken,
  createModelSimulator,
  SANDBOX_KEY,
  type ModelAnswer,
  type ModelControl,
} from './simulator.ts';

export type ModelProvider = 'google' | 'anthropic' | 'openai-compatible';

/** Environment variables that point the product at the simulator. */
export type ModelSettings = Readonly<Record<'AI_PROVIDER' | 'AI_MODEL' | 'AI_BASE_URL' | 'AI_API_KEY', string>>;

type Env = { Bindings: HttpBindings };

export type ModelApp = {
  readonly control: ModelControl;
  readonly app: Hono<Env>;
};

/**
 * An app to mount into another server.
 *
 * @param prefix the mount path, without a trailing slash
 */
export function createModelApp(prefix = ''): ModelApp {
  const { control, answer } = createModelSimulator({ wait: (ms) => wait(ms) });
  const app = new Hono<Env>();
  app.route('/__simulator', controlRoutes(control));
  app.get('/', (context) => context.html(requestsPage(control.requests()), 200, { 'Cache-Control': 'no-store' }));
  app.get('/*', (context) => {
    const path = new URL(context.req.url).pathname.slice(prefix.length);
    const found = readModels({ path, headers: context.req.header() }, SANDBOX_KEY);
    return found === null ? context.notFound() : Response.json(found.body, { status: found.status });
  });
  app.post('/*', async (context) => {
    const { pathname, search } = new URL(context.req.url);
    const { outgoing } = context.env;
    const disconnected = new AbortController();
    outgoing.once('close', () => disconnected.abort());
    try {
      const request = {
        method: context.req.method,
        path: pathname.slice(prefix.length),
        query: search.slice(1),
        headers: context.req.header(),
        body: await context.req.text(),
      };
      const response = await answer(request, disconnected.signal);
      if (response === null) return await context.notFound();
      await writeResponse(response, outgoing, disconnected.signal);
    } catch (error) {
      if (!(error instanceof ConnectionBroken)) throw error;
      outgoing.destroy();
    }
    return RESPONSE_ALREADY_SENT;
  });
  return { control, app };
}

async function writeResponse(
  { status, headers, body }: ModelAnswer,
  outgoing: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  outgoing.writeHead(status, headers);
  outgoing.flushHeaders();
  for await (const chunk of body) {
    if (signal.aborted) return;
    outgoing.write(chunk);
  }
  outgoing.end();
}

/** @param address the simulator's URL, including the mount path */
export function modelSettingsAt(address: string, provider: ModelProvider = 'google'): ModelSettings {
  return {
    AI_PROVIDER: provider,
    AI_MODEL: MODELS[provider],
    AI_BASE_URL: `${address}/${provider === 'google' ? 'v1beta' : 'v1'}`,
    AI_API_KEY: SANDBOX_KEY,
  };
}

const MODELS: Readonly<Record<ModelProvider, string>> = {
  google: 'gemini-flash-latest',
  anthropic: 'claude-haiku-4-5',
  'openai-compatible': 'sandbox-model',
};

export type ModelServer = {
  readonly url: string;
  readonly control: ModelControl;
  settingsFor(provider: ModelProvider): ModelSettings;
  close(): Promise<void>;
};

/** Starts a server on a free loopback port, for tests. */
export async function startModelServer(): Promise<ModelServer> {
  const { control, app } = createModelApp();
  const listener = getRequestListener(app.fetch);
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    control,
    settingsFor: (provider) => modelSettingsAt(url, provider),
    close() {
      control.reset();
      return new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      });
    },
  };
}
