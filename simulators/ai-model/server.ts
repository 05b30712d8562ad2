/** The model on a port: three protocols, a page that shows what was asked, and the simulator's own commands. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { controlRoutes } from './control.ts';
import { questionsPage } from './page.ts';
import { ConnectionBroken, createModelSimulator, SANDBOX_KEY } from './simulator.ts';
import type { ModelAnswer, ModelControl } from './simulator.ts';

export type ModelProvider = 'google' | 'anthropic' | 'openai-compatible';

/** The settings that point the product at the simulator, by their variables' names. */
export type ModelSettings = Readonly<Record<'AI_PROVIDER' | 'AI_MODEL' | 'AI_BASE_URL' | 'AI_API_KEY', string>>;

type Env = { Bindings: HttpBindings };

export type ModelOnHttp = {
  readonly control: ModelControl;
  readonly app: Hono<Env>;
};

/**
 * For a server that has other pages as well.
 *
 * @param prefix where the app is mounted there, without a slash at its end
 */
export function modelOnHttp(prefix = ''): ModelOnHttp {
  const { control, answer } = createModelSimulator({ wait: (ms) => wait(ms) });
  const app = new Hono<Env>();
  app.route('/__simulator', controlRoutes(control));
  app.get('/', (context) => context.html(questionsPage(control.requests()), 200, { 'Cache-Control': 'no-store' }));
  app.post('/*', async (context) => {
    const { pathname, search } = new URL(context.req.url);
    const { outgoing } = context.env;
    const left = new AbortController();
    outgoing.once('close', () => left.abort());
    try {
      const request = {
        method: context.req.method,
        path: pathname.slice(prefix.length),
        query: search.slice(1),
        headers: context.req.header(),
        body: await context.req.text(),
      };
      const answered = await answer(request, left.signal);
      if (answered === null) return await context.notFound();
      await write(answered, outgoing, left.signal);
    } catch (error) {
      if (!(error instanceof ConnectionBroken)) throw error;
      outgoing.destroy();
    }
    return RESPONSE_ALREADY_SENT;
  });
  return { control, app };
}

/** Piece by piece, each on its way before the next one is asked for. */
async function write(
  { status, headers, body }: ModelAnswer,
  outgoing: ServerResponse,
  left: AbortSignal,
): Promise<void> {
  outgoing.writeHead(status, headers);
  outgoing.flushHeaders();
  for await (const piece of body) {
    if (left.aborted) return;
    outgoing.write(piece);
  }
  outgoing.end();
}

/** @param address where the simulator is reached, its prefix included */
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

/** On a free port of loopback, for tests. */
export async function startModelServer(): Promise<ModelServer> {
  const { control, app } = modelOnHttp();
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
