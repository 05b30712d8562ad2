/** Asks the provider of the coach for the model, which costs nothing. Sends no text of a user. */
import type { CoachSettings } from '#server/coach/coach-settings.ts';
import type { Config } from '#server/config/config.ts';
import { fault, off, ok, warning, type Check } from '../../check.ts';
import { sendRequest } from '../../request.ts';
import { CHECK_NETWORK, CREDENTIALS_REFUSED, describeUnreachable } from './describe-unreachable.ts';

export const coachCheck = ({ coach }: Config): Check => ({
  name: 'coach',
  async run(signal) {
    if (coach === null) return [off('the coach is off: AI_PROVIDER is not set')];
    const { url, headers } = describeModelRequest(coach);
    const reply = await sendRequest(url, { headers, signal });
    const name = coach.providerName;
    if (CREDENTIALS_REFUSED.has(reply.status) || (reply.status === 400 && /api.?key/i.test(reply.text))) {
      return [
        fault(
          `${name} refuses the key (${reply.status})`,
          'Check AI_API_KEY: its project, its restrictions and billing.',
        ),
      ];
    }
    if (reply.status === 404 && coach.provider !== 'openai-compatible') {
      return [fault(`${name} has no model ${coach.model}`, 'Check AI_MODEL; the provider lists its names.')];
    }
    if (reply.status !== 200)
      return [describeUnreachable(name, reply, `Check AI_BASE_URL (${coach.baseUrl}). ${CHECK_NETWORK}`)];
    if (coach.provider === 'openai-compatible' && !listsModel(reply.json, coach.model)) {
      return [
        warning(
          `${name} does not list the model ${coach.model}`,
          'Check AI_MODEL: the name as the server lists it at /models.',
        ),
      ];
    }
    return [ok(`${name} accepts the key and has ${coach.model} (asked without cost: no text was sent)`)];
  },
});

function describeModelRequest({ provider, baseUrl, model, apiKey }: CoachSettings): {
  url: string;
  headers: Record<string, string>;
} {
  const key = apiKey?.reveal() ?? '';
  const named = `${baseUrl}/models/${encodeURIComponent(model)}`;
  if (provider === 'google') return { url: named, headers: { 'x-goog-api-key': key } };
  if (provider === 'anthropic') return { url: named, headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' } };
  return { url: `${baseUrl}/models`, headers: key === '' ? {} : { Authorization: `Bearer ${key}` } };
}

function listsModel(json: unknown, model: string): boolean {
  const list = (json as { data?: { id?: string }[] } | null)?.data ?? [];
  // Ollama lists `llama3:latest` and takes `llama3`.
  return list.some(({ id }) => id === model || id === `${model}:latest`);
}
