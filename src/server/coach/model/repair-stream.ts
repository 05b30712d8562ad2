/**
 * Repairs events of a stream that differ from the provider's protocol, before the AI SDK reads them: the SDK refuses a
 * whole stream for one event that it does not know.
 */
import { isObject, parseJson } from '../../parse-json.ts';

type Json = Record<string, unknown>;

/** Returns null for an event to leave out. */
export type RepairEvent = (event: Json) => Json | null;

/**
 * For streams of OpenAI-compatible endpoints. Gateways send events without choices, vLLM and Ollama send errors in
 * other shapes, and some servers send an empty finish reason. `repairStream` adds a reason that never came.
 */
export const repairOpenAiEvent: RepairEvent = (event) => {
  if (Array.isArray(event['choices'])) return { ...event, choices: event['choices'].map(repairChoice) };
  const { error, message } = event;
  if (error !== undefined) return { ...event, error: isObject(error) ? error : { message: 'a text' } };
  return typeof message === 'string' ? { error: event } : { ...event, choices: [] };
};

/** A server that does not stream sends the whole message, which becomes the only delta. */
function repairChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice;
  const { message, finish_reason: finish, ...rest } = choice;
  return { ...(message !== undefined && { delta: message }), ...rest, finish_reason: finish === '' ? null : finish };
}

const ANTHROPIC_EVENTS = /^(?:message_(?:start|delta|stop)|content_block_(?:start|delta|stop)|ping|error)$/;
/**
 * Anthropic may add event types, which clients shall ignore
 * (https://docs.anthropic.com/en/docs/build-with-claude/streaming).
 */
export const dropUnknownAnthropicEvent: RepairEvent = (event) =>
  ANTHROPIC_EVENTS.test(String(event['type'])) ? event : null;

const DONE = '[DONE]';
const FINISHED = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });

/** Transforms the body of a response with status 200. `isWhole`: it may be one JSON document instead of events. */
export function repairStream(repair: RepairEvent, isWhole: boolean): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  let hasBegun = false;
  let isFinished = false;

  /** @param otherwise replaces an event that is not JSON */
  function repairLine(line: string, otherwise = line): string {
    // llama.cpp writes errors into a field of their own.
    const [, field, data = ''] = /^(data|error):\s*(.*)$/s.exec(line) ?? [];
    if (field === undefined) return line;
    if (data === DONE) return hasBegun && !isFinished ? `data: ${FINISHED}\n\n${line}` : line;
    // A keep-alive: `data:` alone, or with a word.
    if (/^[A-Za-z -]*$/.test(data)) return '';
    return repairJson(field === 'error' ? `{"error":${data}}` : data, otherwise);
  }

  function repairJson(text: string, otherwise: string): string {
    const event = parseJson(text);
    if (!isObject(event)) return otherwise;
    const repaired = repair(event);
    const choices = Array.isArray(repaired?.['choices']) ? repaired['choices'].filter(isObject) : [];
    hasBegun ||= choices.length > 0;
    isFinished ||= choices.some(({ finish_reason: finish }) => finish != null);
    return repaired === null ? '' : `data: ${JSON.stringify(repaired)}`;
  }

  return new TransformStream({
    transform(chunk, stream) {
      const text = decoder.decode(chunk, { stream: true });
      rest += text;
      if (isWhole || !/[\r\n]/.test(text)) return;
      // A CR at the end may be the first half of a CRLF.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop()!;
      stream.enqueue(encoder.encode(lines.map((line) => `${repairLine(line)}\n`).join('')));
    },
    flush(stream) {
      rest += decoder.decode();
      const isDocument = isWhole && rest.trimStart().startsWith('{');
      // A connection that breaks leaves half an event, which must not look like a malformed one.
      const lines = isDocument
        ? [repairJson(rest, rest)]
        : rest.split(/\r\n|\n|\r/).map((line) => repairLine(line, ''));
      stream.enqueue(encoder.encode(`${lines.join('\n')}\n\n`));
    },
  });
}
