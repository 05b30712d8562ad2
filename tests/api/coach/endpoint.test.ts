/**
 * Threat: an endpoint that is not the model we know, or that somebody got into. It sends us elsewhere, answers without an
 * end, or says of itself what nobody can store or should read in a log.
 */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { PROVIDERS, startCoachWorld } from './world.ts';
import type { CoachWorld } from './world.ts';
import { today } from '../data/world.ts';

const DATE = { date: today() };
/** A word that nothing but the log holds. */
const MARKER = 'zyxgate';

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

type Endpoint = { url: string; requests: { headers: IncomingHttpHeaders; body: string }[] };

async function startEndpoint(answer: (response: ServerResponse, asked: string) => void): Promise<Endpoint> {
  const requests: Endpoint['requests'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      requests.push({ headers: request.headers, body });
      answer(response, body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  opened.push(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

async function worldAt(url: string, provider: (typeof PROVIDERS)[number] = 'openai-compatible'): Promise<CoachWorld> {
  const world = await startCoachWorld({ AI_BASE_URL: `${url}/v1` }, provider);
  opened.push(() => world.close());
  await world.wrote(world.cleo, today(), [`Shipped the ${MARKER} importer to 40 customers`]);
  return world;
}

describe.each(PROVIDERS)('%s', (provider) => {
  test.each([302, 307, 308])('neither the key nor the log goes where an answer of %i points to', async (status) => {
    const elsewhere = await startEndpoint((response) => response.writeHead(400).end());
    const first = await startEndpoint((response) =>
      response.writeHead(status, { location: `${elsewhere.url}/v1` }).end(),
    );
    const world = await worldAt(first.url, provider);
    expect((await world.feedback(world.cleo, DATE)).problem).toMatchObject({ class: 'configuration' });
    expect(first.requests).toHaveLength(1);
    expect(elsewhere.requests).toEqual([]);
  });
});

test('an endpoint that takes no schema is asked for lines, and from then on for nothing else', async () => {
  const endpoint = await startEndpoint((response, asked) => {
    if (asked.includes('response_format'))
      return void response.writeHead(400).end('{"error":{"message":"no such type"}}');
    const text = 'HustleScore: 6/10\n\nYou shipped the importer [1].\n\nMissingFact: Who uses it?';
    events(response).end(`${chunk({ content: text }, {}, 'stop')}data: [DONE]\n\n`);
  });
  const world = await worldAt(endpoint.url);
  const expected = {
    score: 6,
    feedback: 'You shipped the importer [1].',
    cited: [{ ref: '1', line: 1 }],
    missingFact: 'Who uses it?',
  };
  expect((await world.feedback(world.cleo, DATE)).done).toMatchObject(expected);
  expect(endpoint.requests).toHaveLength(2);
  expect((await world.feedback(world.cleo, { ...DATE, force: true })).done).toMatchObject(expected);
  expect(endpoint.requests).toHaveLength(3);
  expect(await world.kept(world.cleo)).toMatchObject({ analyses: 2, tries: 2 });
});

test('an endpoint that refuses the question in both forms is asked by schema again the next time', async () => {
  const endpoint = await startEndpoint((response) => response.writeHead(400).end('{"error":{"message":"too long"}}'));
  const world = await worldAt(endpoint.url);
  const ask = async () => (await world.feedback(world.cleo, DATE)).problem;
  expect([await ask(), await ask()]).toMatchObject([{ class: 'configuration' }, { class: 'configuration' }]);
  const byForm = endpoint.requests.map(({ body }) => body.includes('response_format'));
  expect(byForm).toEqual([true, false, true, false]);
});

/** As fast as it is taken, for as long as somebody takes it. */
function pour(response: ServerResponse, piece: string): void {
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', more);
  more();
}

const events = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const chunk = (delta: object, more: object = {}, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
const GOOD = chunk({
  content: JSON.stringify({ score: 5, feedback: 'You shipped the importer.', cited: [1], missingFact: '' }),
});

test.each<[string, (response: ServerResponse) => void]>([
  ['an error', (response) => pour(response.writeHead(400), 'x'.repeat(65_536))],
  ['a line', (response) => pour(events(response), `data: ${'x'.repeat(65_536)}`)],
  ['comments', (response) => pour(events(response), ': wait\n\n'.repeat(8_000))],
  ['thoughts', (response) => pour(events(response), chunk({ reasoning_content: 'x'.repeat(65_536) }))],
])('%s without an end is not read for longer than an answer can be', async (_what, answer) => {
  let taken = 0;
  const endpoint = await startEndpoint((response) => {
    const { socket } = response;
    response.once('close', () => (taken = socket!.bytesWritten));
    answer(response);
  });
  const world = await worldAt(endpoint.url);
  expect((await world.feedback(world.cleo, DATE)).problem).toMatchObject({ class: 'format' });
  await expect.poll(() => taken).toBeGreaterThan(4 * 1024 * 1024);
  expect(taken).toBeLessThan(32 * 1024 * 1024);
  expect(await world.kept(world.cleo)).toMatchObject({ analyses: 0, claims: 0 });
});

test('a good answer is not lost for what its endpoint says of itself', async () => {
  const usage = { prompt_tokens: 1e20, completion_tokens: 1.5 };
  const endpoint = await startEndpoint((response) =>
    events(response).end(`${GOOD.replace('"m"', '"\\u0000m"')}${chunk({}, { usage }, 'stop')}data: [DONE]\n\n`),
  );
  const world = await worldAt(endpoint.url);
  expect((await world.feedback(world.cleo, DATE)).done).toMatchObject({ score: 5 });
  const { rows } = await world.server.admin.query('select model_version, input_tokens, output_tokens from analyses');
  expect(rows).toEqual([{ model_version: 'm', input_tokens: null, output_tokens: null }]);
});

test.each<[string, (response: ServerResponse, asked: string) => void]>([
  ['as the reason of its end', (response, asked) => events(response).end(`${GOOD}${chunk({}, {}, asked)}`)],
  [
    'as an error',
    (response, asked) => response.writeHead(400).end(JSON.stringify({ error: { message: asked, code: asked } })),
  ],
  [
    'in its stream',
    (response, asked) => events(response).end(`data: ${JSON.stringify({ error: { message: asked } })}\n\n`),
  ],
])('an endpoint that repeats the log %s writes it into no log of ours', async (_how, answer) => {
  const endpoint = await startEndpoint(answer);
  const world = await worldAt(endpoint.url);
  expect((await world.feedback(world.cleo, DATE)).problem).not.toBeNull();
  expect(endpoint.requests[0]!.body).toContain(MARKER);
  expect(world.logged.join('')).toContain('"msg":"analysis"');
  expect(world.logged.join('')).not.toContain(MARKER);
});
