/** Google's generateContent and streamGenerateContent APIs, `v1beta` and `v1` (docs/specification/providers.md 5). */
import {
  readBody,
  RefusedError,
  sse,
  readText,
  type Finish,
  type Json,
  type Refusal,
  type ModelReply,
  type Protocol,
} from './protocol.ts';

const PATH = /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;
/** The AI SDK sends `responseJsonSchema`, Google's own client `responseSchema`. */
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

export const gemini: Protocol = {
  name: 'gemini',
  matches: (path) => /^\/v1(?:beta)?\/models\//.test(path),
  readApiKey: (headers) => headers['x-goog-api-key'] ?? null,
  invalidKey: { status: 400, name: 'API_KEY_INVALID', message: 'API key not valid. Please pass a valid API key.' },
  read({ path, query, body }) {
    const [, model = '', method = ''] = PATH.exec(path) ?? [];
    if (!model.startsWith('gemini-'))
      throw new RefusedError({ status: 404, message: `models/${model} is not found for API version v1beta.` });
    const streams = method === 'streamGenerateContent';
    if (streams && new URLSearchParams(query).get('alt') !== 'sse')
      throw new RefusedError({ status: 400, message: 'This simulator only streams with alt=sse.' });
    const json = readBody(body);
    if (!Array.isArray(json.contents) || json.contents.length === 0)
      throw new RefusedError({ status: 400, message: '* GenerateContentRequest.contents: contents is not specified' });
    const config = json.generationConfig ?? {};
    const field = SCHEMA_FIELDS.find((name) => config[name] != null);
    const isJson = config.responseMimeType === 'application/json';
    return {
      model,
      streams,
      system: readText(json.systemInstruction?.parts),
      prompt: json.contents.map((turn: Json) => (turn.role === 'model' ? '' : readText(turn.parts))).join('\n'),
      shape: isJson ? { kind: 'json', schema: field ? config[field] : null } : { kind: 'text' },
      maxTokens: config.maxOutputTokens ?? null,
      includesThoughts: config.thinkingConfig?.includeThoughts === true,
      tool: null,
      streamsUsage: true,
    };
  },
  refusal,
  refusalFrame: (details) => sse(refusal(details)),
  frames(reply) {
    const part = (fields: Json): string => sse(response(reply, [{ content: content([fields]), index: 0 }], false));
    return {
      opening: reply.thoughts === null ? [] : [part({ text: reply.thoughts, thought: true })],
      chunk: (text) => part({ text }),
      closing: [sse(response(reply, [finalCandidate(reply)], true))],
    };
  },
  whole(reply, text) {
    const parts = reply.thoughts === null ? [] : [{ text: reply.thoughts, thought: true }];
    const last = finalCandidate(reply);
    const candidate = reply.finish === 'safety' ? last : { ...last, content: content([...parts, { text }]) };
    return response(reply, [candidate], true);
  },
  blocked(reply) {
    const { candidates: _, ...rest } = response(reply, [], true);
    const blocked = { ...rest, promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
    return { frames: [sse(blocked)], whole: blocked };
  },
};

const content = (parts: Json[]): Json => ({ role: 'model', parts });

/** The final candidate. An answer that was stopped for safety has no content. */
const finalCandidate = ({ finish, finishName }: ModelReply): Json =>
  finish === 'safety'
    ? {
        finishReason: FINISHES[finish],
        index: 0,
        safetyRatings: [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true }],
      }
    : { content: content([{ text: '' }]), finishReason: finishName ?? FINISHES[finish], index: 0 };

function response(reply: ModelReply, candidates: Json[], atEnd: boolean): Json {
  const { inputTokens, outputTokens, modelVersion, id, thoughts } = reply;
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

/** `API_KEY_INVALID`, `PerMinute` and `PerDay` appear in the details. Other names are Google's status names. */
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
