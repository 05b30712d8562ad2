/**
 * Threat: a compromised or incompatible endpoint of an AI service. It redirects the request, answers without an end, or
 * returns metadata that the database rejects or that would leak the journal into the server's log.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { PROVIDERS, startCoachWorld, type CoachWorld } from './fixture.ts';
import { today } from '../data/fixture.ts';

const DATE = { date: today() };
type Provider = (typeof PROVIDERS)[number];
/** A word that appears only in the log. */
const MARKER = 'zyxgate';
const LOG = [`Shipped the ${MARKER} importer to 40 customers`];

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

type Endpoint = { url: string; requests: { headers: IncomingHttpHeaders; body: string }[] };

type Answer = (response: ServerResponse, requestBody: string) => void;

async function startEndpoint(answer: Answer, closers = opened): Promise<Endpoint> {
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
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** A separate server, for a test that changes how the server treats the endpoint from then on. */
async function worldAt(url: string): Promise<CoachWorld> {
  const world = await startCoachWorld({ AI_BASE_URL: `${url}/v1` }, 'openai-compatible');
  opened.push(() => world.close());
  await world.writeLog(world.cleo, today(), LOG);
  return world;
}

type Shared = { world: CoachWorld; endpoint: Endpoint; answer: (answer: Answer) => void };
const shared = new Map<Provider, Promise<Shared>>();
const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

async function startShared(provider: Provider): Promise<Shared> {
  let current: Answer = () => undefined;
  const endpoint = await startEndpoint((response, requestBody) => current(response, requestBody), closers);
  const world = await startCoachWorld({ AI_BASE_URL: `${endpoint.url}/v1` }, provider);
  closers.push(() => world.close());
  return { world, endpoint, answer: (answer) => void (current = answer) };
}

/** A new person with a log, on the shared server of `provider`, whose endpoint gives `answer` from now on. */
async function personWith(answer: Answer, provider: Provider = 'openai-compatible') {
  if (!shared.has(provider)) shared.set(provider, startShared(provider));
  const { world, endpoint, answer: setAnswer } = await shared.get(provider)!;
  setAnswer(answer);
  endpoint.requests.length = 0;
  world.logged.length = 0;
  const person = await world.createCloser();
  await world.writeLog(person, today(), LOG);
  return { world, endpoint, person };
}

describe.each(PROVIDERS)('%s', (provider) => {
  test.each([302, 307, 308])('does not follow a redirect with status %i', async (status) => {
    const elsewhere = await startEndpoint((response) => response.writeHead(400).end());
    const redirect: Answer = (response) => response.writeHead(status, { location: `${elsewhere.url}/v1` }).end();
    const { world, endpoint, person } = await personWith(redirect, provider);
    expect((await world.feedback(person, DATE)).problem).toMatchObject({ class: 'configuration' });
    expect(endpoint.requests).toHaveLength(1);
    expect(elsewhere.requests).toEqual([]);
  });
});

test('falls back to text for an endpoint that rejects the schema and stays with text', async () => {
  const endpoint = await startEndpoint((response, requestBody) => {
    if (requestBody.includes('response_format'))
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
  expect(await world.countRows(world.cleo)).toMatchObject({ analyses: 2, tries: 2 });
});

test('tries the schema again after an endpoint has rejected both formats', async () => {
  const endpoint = await startEndpoint((response) => response.writeHead(400).end('{"error":{"message":"too long"}}'));
  const world = await worldAt(endpoint.url);
  const requestFeedback = async () => (await world.feedback(world.cleo, DATE)).problem;
  expect([await requestFeedback(), await requestFeedback()]).toMatchObject([
    { class: 'configuration' },
    { class: 'configuration' },
  ]);
  const usedSchema = endpoint.requests.map(({ body }) => body.includes('response_format'));
  expect(usedSchema).toEqual([true, false, true, false]);
});

/** Writes `text` forever, as fast as the client reads. */
function writeEndlessly(response: ServerResponse, text: string): void {
  const writeMore = (): void => {
    while (!response.destroyed && response.write(text));
  };
  response.on('drain', writeMore);
  writeMore();
}

const events = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const chunk = (delta: object, more: object = {}, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
const GOOD = chunk({
  content: JSON.stringify({ score: 5, feedback: 'You shipped the importer.', cited: [1], missingFact: '' }),
});

test.each<[string, (response: ServerResponse) => void]>([
  ['error', (response) => writeEndlessly(response.writeHead(400), 'x'.repeat(65_536))],
  ['line', (response) => writeEndlessly(events(response), `data: ${'x'.repeat(65_536)}`)],
  ['series of comments', (response) => writeEndlessly(events(response), ': wait\n\n'.repeat(8_000))],
  [
    'reasoning stream',
    (response) => writeEndlessly(events(response), chunk({ reasoning_content: 'x'.repeat(65_536) })),
  ],
])('aborts an endless %s at the size limit', async (_what, answer) => {
  let bytesRead = 0;
  const { world, person } = await personWith((response) => {
    const { socket } = response;
    response.once('close', () => (bytesRead = socket!.bytesWritten));
    answer(response);
  });
  expect((await world.feedback(person, DATE)).problem).toMatchObject({ class: 'format' });
  await expect.poll(() => bytesRead).toBeGreaterThan(4 * 1024 * 1024);
  expect(bytesRead).toBeLessThan(32 * 1024 * 1024);
  expect(await world.countRows(person)).toMatchObject({ analyses: 0, claims: 0 });
});

test('stores a valid answer despite invalid metadata of the endpoint', async () => {
  const usage = { prompt_tokens: 1e20, completion_tokens: 1.5 };
  const { world, person } = await personWith((response) =>
    events(response).end(`${GOOD.replace('"m"', '"\\u0000m"')}${chunk({}, { usage }, 'stop')}data: [DONE]\n\n`),
  );
  expect((await world.feedback(person, DATE)).done).toMatchObject({ score: 5 });
  const { rows } = await world.server.admin.query(
    'select model_version, input_tokens, output_tokens from analyses where user_id = $1',
    [person.id],
  );
  expect(rows).toEqual([{ model_version: 'm', input_tokens: null, output_tokens: null }]);
});

test.each<[string, Answer]>([
  ['as the finish reason', (response, requestBody) => events(response).end(`${GOOD}${chunk({}, {}, requestBody)}`)],
  [
    'as an error',
    (response, requestBody) =>
      response.writeHead(400).end(JSON.stringify({ error: { message: requestBody, code: requestBody } })),
  ],
  [
    'as an error in the stream',
    (response, requestBody) => events(response).end(`data: ${JSON.stringify({ error: { message: requestBody } })}\n\n`),
  ],
])('the server log contains no journal text that an endpoint repeats %s', async (_how, answer) => {
  const { world, endpoint, person } = await personWith(answer);
  expect((await world.feedback(person, DATE)).problem).not.toBeNull();
  expect(endpoint.requests[0]!.body).toContain(MARKER);
  expect(world.logged.join('')).toContain('"msg":"analysis"');
  expect(world.logged.join('')).not.toContain(MARKER);
});
