/** Google's generateContent and streamGenerateContent, of `v1beta` and `v1` (providers.md 2.2). */
import { readBody, Refused, sse, textOf } from './wire.ts';
import type { Finish, Json, Refusal, Spoken, Wire } from './wire.ts';

const PATH = /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;
/** The SDK sends the first, Google's own client the second. */
const SCHEMA_FIELDS = ['responseJsonSchema', 'responseSchema'] as const;

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};
const MESSAGES: Readonly<Record<number, string>> = {
  429: 'You exceeded your current quota, please check your plan and billing details.',
  503: 'The model is overloaded. Please try again later.',
};
const FINISHES: Readonly<Record<Finish, string>> = { stop: 'STOP', length: 'MAX_TOKENS', safety: 'SAFETY' };

export const gemini: Wire = {
  name: 'gemini',
  fits: (path) => /^\/v1(?:beta)?\/models\//.test(path),
  keyOf: (headers) => headers['x-goog-api-key'] ?? null,
  wrongKey: {
    status: 400,
    name: 'API_KEY_INVALID',
    message: 'API key not valid. Please pass a valid API key.',
  },
  read({ path, query, body }) {
    const [, model = '', method = ''] = PATH.exec(path) ?? [];
    if (!model.startsWith('gemini-'))
      throw new Refused({ status: 404, message: `models/${model} is not found for API version v1beta.` });
    const streams = method === 'streamGenerateContent';
    if (streams && new URLSearchParams(query).get('alt') !== 'sse')
      throw new Refused({ status: 400, message: 'This simulator streams with alt=sse alone.' });
    const asked = readBody(body);
    if (!Array.isArray(asked.contents) || asked.contents.length === 0)
      throw new Refused({ status: 400, message: '* GenerateContentRequest.contents: contents is not specified' });
    const config = asked.generationConfig ?? {};
    const field = SCHEMA_FIELDS.find((name) => config[name] != null);
    const json = config.responseMimeType === 'application/json';
    return {
      model,
      streams,
      system: textOf(asked.systemInstruction?.parts),
      prompt: asked.contents.map((turn: Json) => (turn.role === 'model' ? '' : textOf(turn.parts))).join('\n'),
      shape: json ? { kind: 'json', schema: field ? config[field] : null } : { kind: 'text' },
      maxTokens: config.maxOutputTokens ?? null,
      shows: config.thinkingConfig?.includeThoughts === true ? 'thoughts' : 'answer',
      tool: null,
      counts: true,
    };
  },
  refusal,
  refusalFrame: (told) => sse(refusal(told)),
  frames(spoken) {
    const part = (fields: Json): string => sse(response(spoken, [{ content: content([fields]), index: 0 }], false));
    return {
      opening: spoken.thoughts === null ? [] : [part({ text: spoken.thoughts, thought: true })],
      chunk: (text) => part({ text }),
      closing: [sse(response(spoken, [lastOf(spoken)], true))],
    };
  },
  whole(spoken, text) {
    const parts = spoken.thoughts === null ? [] : [{ text: spoken.thoughts, thought: true }];
    const last = lastOf(spoken);
    const candidate = spoken.finish === 'safety' ? last : { ...last, content: content([...parts, { text }]) };
    return response(spoken, [candidate], true);
  },
  blocked(spoken) {
    const { candidates: _, ...rest } = response(spoken, [], true);
    const told = { ...rest, promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
    return { frames: [sse(told)], whole: told };
  },
};

const content = (parts: Json[]): Json => ({ role: 'model', parts });

/** The end of an answer. One that was stopped for safety has no content at all. */
const lastOf = ({ finish }: Spoken): Json =>
  finish === 'safety'
    ? {
        finishReason: FINISHES[finish],
        index: 0,
        safetyRatings: [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true }],
      }
    : { content: content([{ text: '' }]), finishReason: FINISHES[finish], index: 0 };

function response(spoken: Spoken, candidates: Json[], atEnd: boolean): Json {
  const { inputTokens, outputTokens, modelVersion, id, thoughts } = spoken;
  const thoughtsTokenCount = thoughts === null ? 0 : Math.ceil(thoughts.length / 4);
  return {
    candidates,
    usageMetadata: {
      promptTokenCount: inputTokens,
      ...(atEnd && { candidatesTokenCount: outputTokens }),
      ...(thoughtsTokenCount > 0 && { thoughtsTokenCount }),
      totalTokenCount: inputTokens + (atEnd ? outputTokens : 0) + thoughtsTokenCount,
    },
    modelVersion,
    responseId: id,
  };
}

/** `API_KEY_INVALID`, `PerMinute` and `PerDay` are told in the details; other names are statuses of Google's own. */
function refusal({ status, name, message, retryDelay }: Refusal): Json {
  const details: Json[] = [];
  if (name === 'API_KEY_INVALID')
    details.push({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { service: 'generativelanguage.googleapis.com' },
    });
  const quota = name === 'PerDay' || name === 'PerMinute' ? name : status === 429 ? 'PerMinute' : null;
  if (quota !== null)
    details.push({
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [
        {
          quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
          quotaId: `GenerateRequests${quota}PerProjectPerModel-FreeTier`,
        },
      ],
    });
  if (retryDelay !== undefined)
    details.push({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryDelay}s` });
  return {
    error: {
      code: status,
      message: message ?? MESSAGES[status] ?? 'The request failed.',
      status: name !== undefined && /^[A-Z_]+$/.test(name) && details.length === 0 ? name : STATUS_NAMES[status],
      ...(details.length > 0 && { details }),
    },
  };
}
