/** The endpoints that describe models. `npm run doctor` tests the API key with them, because they cost nothing. */
import type { ApiRequest } from '../api-request.ts';
import { anthropic } from './protocols/anthropic.ts';
import { gemini } from './protocols/gemini.ts';
import { openai } from './protocols/openai.ts';
import type { Protocol } from './protocols/protocol.ts';

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

/** Returns null for an unknown path. */
export function readModels(
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
