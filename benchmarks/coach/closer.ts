/** Runs the product with a model, and requests feedback over HTTP. */
import pg from 'pg';
import type { FeedbackResult } from '#domain/coach/coach.ts';
import { addDays, dayOf, type Day } from '#domain/day/day.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { startProcess, type Running } from '../processes.ts';
import { openSeededDatabase, type SeededDatabase } from '../seeded-database.ts';
import { toEditorHtml } from './logs.ts';

/** A user of the benchmark, who has the paid plan and has consented to the coach. */
export type Closer = { id: string; token: string };

export type FeedbackOutcome =
  | { kind: 'feedback'; result: FeedbackResult; stored: Stored }
  /** The class in the stream's `problem` event, the code of a rejected request, or `no end` if the stream just ends. */
  | { kind: 'problem'; problem: string };

type Stored = { score: number; text: string; inputTokens: number | null; outputTokens: number | null; ms: number };

export const today: Day = dayOf(new Date());

/** One database for several consecutive servers with different settings of the coach. */
export class CoachJournal {
  readonly #database: SeededDatabase;
  readonly #sql: pg.Pool;
  #app: Running | null = null;

  static async open(): Promise<CoachJournal> {
    return new CoachJournal(await openSeededDatabase());
  }

  private constructor(database: SeededDatabase) {
    this.#database = database;
    this.#sql = new pg.Pool({ connectionString: database.url, max: 4 });
    // Without a listener, the error of an idle connection ends the process when the database stops first.
    this.#sql.on('error', () => undefined);
  }

  get app(): Running {
    if (!this.#app) throw new Error('the server was not started');
    return this.#app;
  }

  async start(coach: Readonly<Record<string, string>>): Promise<void> {
    await this.#app?.stop();
    const { url, dataDir } = this.#database;
    const settings = { DATABASE_URL: url, DATA_DIR: dataDir, SANDBOX: 'off', AUTH_RATE_LIMITS: 'off' };
    this.#app = await startProcess(
      'src/server/main.ts',
      { ...settings, AI_DAILY_LIMIT: '100000', ...coach },
      '/readyz',
    );
  }

  async signUp(name: string): Promise<Closer> {
    const answer = await this.#post('/auth/v1/signup', null, {
      email: `${name}@example.com`,
      password: 'correct horse battery',
    });
    const session = (await answer.json()) as { access_token: string; user: { id: string } };
    const { id } = session.user;
    await this.#sql.query("update profiles set subscription_plan = 'premium', ai_consent = true where id = $1", [id]);
    return { id, token: session.access_token };
  }

  /** Replaces the user's journal with these days, in the editor's HTML. */
  async write({ id, token }: Closer, days: readonly { date: Day; lines: readonly string[] }[]): Promise<void> {
    await this.#sql.query('delete from entries where user_id = $1', [id]);
    const rows = days.map(({ date, lines }) => ({ user_id: id, date, content: toEditorHtml(lines) }));
    const answer = await this.#post('/rest/v1/entries', token, rows);
    if (!answer.ok) throw new Error(`the logs were not saved: ${answer.status} ${await answer.text()}`);
  }

  /** Returns the streaming response with its body unread. */
  ask({ token }: Closer, date: Day, signal?: AbortSignal): Promise<Response> {
    return this.#post('/functions/v1/ai-feedback', token, { date, force: true }, signal);
  }

  /** Requests feedback, reads the stream to its end and loads the stored result. */
  async feedback(closer: Closer, date: Day): Promise<FeedbackOutcome> {
    const answer = await this.ask(closer, date);
    if (!answer.ok) return { kind: 'problem', problem: ((await answer.json()) as { code: string }).code };
    const events = eventsIn(await answer.text());
    const problem = events.find(({ event }) => event === 'problem');
    if (problem) return { kind: 'problem', problem: (problem.data as { class: string }).class };
    const done = events.find(({ event }) => event === 'done');
    if (!done) return { kind: 'problem', problem: 'no end' };
    const { rows } = await this.#sql.query<Stored>(
      `select e.hustle_score as score, e.ai_feedback as text, a.input_tokens as "inputTokens",
              a.output_tokens as "outputTokens", a.duration_ms as ms
         from entries e join analyses a using (user_id, date)
        where user_id = $1 and date = $2 order by a.created_at desc limit 1`,
      [closer.id, date],
    );
    return { kind: 'feedback', result: done.data as FeedbackResult, stored: rows[0]! };
  }

  async close(): Promise<void> {
    await this.#app?.stop();
    await this.#sql.end();
    await this.#database.close();
  }

  #post(path: string, token: string | null, body: unknown, signal?: AbortSignal): Promise<Response> {
    return fetch(this.app.url + path, {
      method: 'POST',
      headers: {
        apikey: PUBLISHABLE_KEY,
        'content-type': 'application/json',
        ...(token !== null && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  }
}

export const daysAgo = (days: number): Day => addDays(today, -days);

function eventsIn(stream: string): { event: string; data: unknown }[] {
  return stream.split('\n\n').flatMap((block) => {
    const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
    return event === undefined ? [] : [{ event, data: JSON.parse(data!) as unknown }];
  });
}
