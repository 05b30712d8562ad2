/** Fixtures of the coach's tests and a client for its event streams. The model is the simulator, called over HTTP. */
import type { CoachEvent, FeedbackResult, ReviewResult } from '#domain/coach/coach.ts';
import type { Day } from '#domain/day/day.ts';
import { startModelServer, type ModelProvider } from '../../../simulators/ai-model/server.ts';
import type { ModelControl } from '../../../simulators/ai-model/simulator.ts';
import { startTestServer, type TestServer } from '../../support/start-server.ts';
import { signUp, today, type Person } from '../data/fixture.ts';

export const PROVIDERS: readonly ModelProvider[] = ['google', 'anthropic', 'openai-compatible'];

/** Three items, each with a finished result. */
export const GOOD_DAY = [
  'Shipped the importer to all 40 customers before noon',
  'Fixed the crash of the editor that 12 people had reported',
  'Wrote the quote for the Weber kitchen, 11,400 euros, and sent it',
];

export type CoachWorld = {
  readonly server: TestServer;
  readonly model: ModelControl;
  /** A user of the paid plan (Closer) who has given consent. */
  readonly cleo: Person;
  /** All lines of the server's log. */
  readonly logged: string[];
  createCloser(): Promise<Person>;
  /** Stores a log: a numbered list of items, or HTML. */
  writeLog(person: Person, date: Day, log: readonly string[] | string): Promise<void>;
  feedback(person: Person | null, body: unknown, signal?: AbortSignal): Promise<CoachResponse<FeedbackResult>>;
  review(person: Person | null, body: unknown, signal?: AbortSignal): Promise<CoachResponse<ReviewResult>>;
  entry(person: Person, date?: Day): Promise<StoredEntry | null>;
  /** The number of analyses, plan uses and active claims of a person, and the sum of their tries. */
  countRows(person: Person): Promise<{ analyses: number; uses: number; claims: number; tries: number }>;
  close(): Promise<void>;
};

export type StoredEntry = {
  feedback: string | null;
  score: number | null;
  analyzedAt: string | null;
  upToDate: boolean | null;
};

/** A refusal as `json`, or the events of a stream. */
export type CoachResponse<Result> = {
  status: number;
  headers: Headers;
  json: unknown;
  events: CoachEvent<Result>[];
  /** The deltas of all text events, concatenated. */
  text: string;
  score: number | null;
  done: Result | null;
  problem: Extract<CoachEvent, { event: 'problem' }>['data'] | null;
};

let people = 0;

export async function startCoachWorld(
  settings: Record<string, string> = {},
  provider: ModelProvider = 'google',
): Promise<CoachWorld> {
  const logged: string[] = [];
  const model = await startModelServer();
  const server = await startTestServer({
    settings: { ...model.settingsFor(provider), ...settings },
    logTo: { write: (line) => void logged.push(line) },
  });
  const { admin } = server;

  async function createCloser(): Promise<Person> {
    people += 1;
    const person = await signUp(server, `closer-${people}`);
    await admin.query(`update public.profiles set subscription_plan = 'premium', ai_consent = true where id = $1`, [
      person.id,
    ]);
    return person;
  }

  return {
    server,
    model: model.control,
    logged,
    createCloser,
    cleo: await createCloser(),
    async writeLog(person, date, log) {
      const escaped = (item: string): string => item.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      const content =
        typeof log === 'string' ? log : `<ol>${log.map((item) => `<li><p>${escaped(item)}</p></li>`).join('')}</ol>`;
      await admin.query(
        `insert into public.entries (user_id, date, content) values ($1, $2, $3)
         on conflict (user_id, date) do update set content = excluded.content`,
        [person.id, date, content],
      );
    },
    feedback: (person, body, signal) => callCoach(server, person, 'ai-feedback', body, signal),
    review: (person, body, signal) => callCoach(server, person, 'trend-analysis', body, signal),
    async entry(person, date = today()) {
      const { rows } = await admin.query<StoredEntry>(
        `select ai_feedback as feedback, hustle_score as score, ai_analyzed_at::text as "analyzedAt",
                ai_analyzed_at >= updated_at as "upToDate"
           from public.entries where user_id = $1 and date = $2`,
        [person.id, date],
      );
      return rows[0] ?? null;
    },
    async countRows(person) {
      const { rows } = await admin.query<{ analyses: number; uses: number; claims: number; tries: number }>(
        `select (select count(*)::int from public.analyses where user_id = $1) as analyses,
                (select count(*)::int from public.plan_uses where user_id = $1 and kind = 'analysis') as uses,
                (select count(*)::int from public.analysis_runs where user_id = $1 and lease_until > now()) as claims,
                (select coalesce(sum(tries), 0)::int from public.analysis_runs where user_id = $1) as tries`,
        [person.id],
      );
      return rows[0]!;
    },
    async close() {
      await server.close();
      await model.close();
    },
  };
}

async function callCoach<Result>(
  server: TestServer,
  person: Person | null,
  name: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<CoachResponse<Result>> {
  const { response, events } = await openStream<Result>(server, person, name, body, signal);
  const { status, headers } = response;
  const received: CoachResponse<Result> = {
    status,
    headers,
    json: null,
    events: [],
    text: '',
    score: null,
    done: null,
    problem: null,
  };
  if (!events) return { ...received, json: await response.json() };
  for await (const event of events) {
    received.events.push(event);
    if (event.event === 'score') received.score = event.data.score;
    if (event.event === 'text') received.text += event.data.delta;
    if (event.event === 'done') received.done = event.data;
    if (event.event === 'problem') received.problem = event.data;
  }
  return received;
}

/** Sends a coach request and returns the stream's events one by one. `events` is null for a refusal. */
export async function openStream<Result = FeedbackResult>(
  server: TestServer,
  person: Person | null,
  name: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<{ response: Response; events: AsyncGenerator<CoachEvent<Result>> | null }> {
  const response = await fetch(`${server.url}/functions/v1/${name}`, {
    method: 'POST',
    headers: {
      apikey: server.config.publishableKey,
      'content-type': 'application/json',
      ...(person && { authorization: `Bearer ${person.token}` }),
    },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  const streams = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return { response, events: streams ? parseEvents<Result>(response) : null };
}

async function* parseEvents<Result>(response: Response): AsyncGenerator<CoachEvent<Result>> {
  let buffer = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    buffer += chunk;
    const frames = buffer.split('\n\n');
    buffer = frames.pop()!;
    for (const frame of frames) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
      if (event !== undefined) yield { event, data: JSON.parse(data!) } as CoachEvent<Result>;
    }
  }
  if (buffer !== '') throw new Error(`the stream ended within a frame: ${buffer}`);
}
