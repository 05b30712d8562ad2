/** Serves the model simulator over HTTP: three protocols, a page with all requests, and the control endpoints. */
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { readApiRequest, serveApp, type HostEnv, type ApiRequest } from '../host.ts';
import {
  ConnectionBroken,
  createModelSimulator,
  SANDBOX_KEY,
  type ModelAnswer,
  type ModelControl,
  type ModelRequest,
} from './simulator.ts';
import type { Fault } from './faults.ts';
import { escapeHtml, renderSandboxPage } from '../page.ts';
import { anthropic } from './protocols/anthropic.ts';
import { gemini } from './protocols/gemini.ts';
import { openai } from './protocols/openai.ts';
import type { Protocol } from './protocols/protocol.ts';

export type ModelProvider = 'google' | 'anthropic' | 'openai-compatible';

/** Environment variables that point the product at the simulator. */
export type ModelSettings = Readonly<Record<'AI_PROVIDER' | 'AI_MODEL' | 'AI_BASE_URL' | 'AI_API_KEY', string>>;

export type ModelApp = { readonly control: ModelControl; readonly app: Hono<HostEnv> };

/**
 * An app to mount into another server.
 *
 * @param prefix the mount path, without a trailing slash
 */
export function createModelApp(prefix = ''): ModelApp {
  const { control, answer } = createModelSimulator({ wait: (ms) => wait(ms) });
  const app = new Hono<HostEnv>();
  app.route('/__simulator', controlRoutes(control));
  app.get('/', (context) => context.html(requestsPage(control.requests()), 200, { 'Cache-Control': 'no-store' }));
  app.get('/*', (context) => {
    const path = new URL(context.req.url).pathname.slice(prefix.length);
    const found = readModels({ path, headers: context.req.header() }, SANDBOX_KEY);
    return found === null ? context.notFound() : Response.json(found.body, { status: found.status });
  });
  app.post('/*', async (context) => {
    const { outgoing } = context.env;
    const disconnected = new AbortController();
    outgoing.once('close', () => disconnected.abort());
    try {
      const response = await answer(await readApiRequest(context, prefix), disconnected.signal);
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
  const host = await serveApp(app);
  return {
    url: host.url,
    control,
    settingsFor: (provider) => modelSettingsAt(host.url, provider),
    close() {
      control.reset();
      return host.close();
    },
  };
}

/** Mounted at `/__simulator` below the model's own address. */
function controlRoutes(control: ModelControl): Hono {
  const app = new Hono();
  app.onError((error, context) => context.json({ error: error.message }, 400));
  app.get('/requests', (context) => context.json(control.requests()));
  app.get('/faults', (context) => context.json(control.faults()));
  app.post('/fail', async (context) => {
    control.fail(await context.req.json<Fault>());
    return context.body(null, 204);
  });
  app.post('/release', (context) => context.json({ released: control.release() }));
  app.post('/held', async (context) => {
    const { count } = await context.req.json<{ count?: number }>();
    await control.whenHeld(count);
    return context.body(null, 204);
  });
  app.post('/pace', async (context) => {
    control.pace((await context.req.json<{ ms: number }>()).ms);
    return context.body(null, 204);
  });
  app.post('/reset', (context) => {
    control.reset();
    return context.body(null, 204);
  });
  return app;
}

/** Lists the requests newest first. */
function requestsPage(requests: readonly ModelRequest[]): string {
  const intro = `<p class="stamp">Sandbox model: simple rules, no AI</p>
<p>This simulates the AI service. It counts finished items and numbers. Below is everything that the journal has sent to
it.</p>`;
  const articles = requests.length === 0 ? '<p>No requests yet.</p>' : [...requests].reverse().map(article).join('\n');
  return renderSandboxPage('Coach', `${intro}\n${articles}`);
}

const END_LABELS: Readonly<Record<ModelRequest['end'], string>> = {
  underway: 'in progress',
  whole: 'answered',
  cut: 'interrupted',
  left: 'cancelled by the client',
};

const article = ({ protocol, prompt, answer, status, end }: ModelRequest): string => `<article>
<h2>Question</h2>
<p class="quiet">${protocol}, ${status === null || status === 200 ? END_LABELS[end] : `rejected with ${status}`}</p>
<pre>${escapeHtml(prompt ?? 'The request could not be parsed.')}</pre>
${answer === null ? '' : `<p class="quiet">Answer</p>\n<pre>${escapeHtml(answer)}</pre>`}
</article>`;

type Entry = { protocol: Protocol; path: RegExp; body(model: string): object | null };

const ENTRIES: readonly Entry[] = [
  {
    protocol: gemini,
    path: /^\/v1beta\/models\/([^/:]+)$/,
    body: (model) => (model.startsWith('gemini-') ? { name: `models/${model}`, inputTokenLimit: 1_048_576 } : null),
  },
  {
    protocol: anthropic,
    path: /^\/v1\/models\/([^/]+)$/,
    body: (model) => (model.startsWith('claude-') ? { type: 'model', id: model, display_name: model } : null),
  },
  {
    protocol: openai,
    path: /^\/v1\/models$/,
    body: () => ({ object: 'list', data: [{ id: 'sandbox-model', object: 'model' }] }),
  },
];

/** `npm run doctor` tests the API key with these endpoints, which cost nothing. Returns null for an unknown path. */
function readModels(
  { path, headers }: Pick<ApiRequest, 'path' | 'headers'>,
  key: string,
): { status: number; body: object } | null {
  for (const { protocol, path: pattern, body } of ENTRIES) {
    const found = pattern.exec(path);
    if (found === null) continue;
    const { invalidKey } = protocol;
    if (protocol.readApiKey(headers) !== key)
      return { status: invalidKey.status, body: protocol.refusal(invalidKey) as object };
    const entry = body(found[1] ?? '');
    return entry === null
      ? { status: 404, body: protocol.refusal({ status: 404, message: 'The model does not exist.' }) as object }
      : { status: 200, body: entry };
  }
  return null;
}
