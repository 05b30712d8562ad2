/** The people of the data wire's tests: Ana and Ben with a free plan, Cleo with a premium one, and a guest. */
import { createClient } from '@supabase/supabase-js';
import type { SupabaseClient } from '@supabase/supabase-js';
import { addDays, day } from '#domain/day/day.ts';
import type { Day } from '#domain/day/day.ts';
import { startTestServer } from '../../support/start-server.ts';
import type { TestServer } from '../../support/start-server.ts';

export type Person = { readonly id: string; readonly token: string; readonly client: SupabaseClient };

export type DataWorld = {
  readonly server: TestServer;
  readonly ana: Person;
  readonly ben: Person;
  readonly cleo: Person;
  readonly guest: SupabaseClient;
  /** What nothing in the wire's tests may cause: lines that the server logged as errors. */
  readonly errorsLogged: string[];
  /** How many requests by this method to this route have come to their end, answered or not. */
  requestsEnded(method: string, route: string): number;
  /** A request by hand. `body` is sent as it is when it is a text, else as JSON. */
  ask(person: Person | null, method: string, path: string, options?: AskOptions): Promise<Answered>;
  close(): Promise<void>;
};

type AskOptions = { body?: unknown; headers?: Record<string, string> };
export type Answered = { status: number; headers: Headers; text: string; json: unknown };

type LogLine = { level: string; method?: string; route?: string };

/** The middle of the day on Earth, so that a test never meets a limit of the calendar by chance. */
export const today = (): Day => day(new Date().toISOString().slice(0, 10));
export const daysAgo = (count: number): Day => addDays(today(), -count);

export async function startDataWorld(): Promise<DataWorld> {
  const lines: LogLine[] = [];
  const errorsLogged: string[] = [];
  const server = await startTestServer({
    logTo: {
      write(text) {
        const line = JSON.parse(text) as LogLine;
        lines.push(line);
        if (line.level === 'error' || line.level === 'fatal') errorsLogged.push(text);
      },
    },
  });
  const [ana, ben, cleo] = await Promise.all(['ana', 'ben', 'cleo'].map((name) => signUp(server, name)));
  if (!ana || !ben || !cleo) throw new Error('three people were expected');
  await server.admin.query(`update public.profiles set subscription_plan = 'premium' where id = $1`, [cleo.id]);
  return {
    server,
    ana,
    ben,
    cleo,
    guest: clientOf(server),
    errorsLogged,
    requestsEnded: (method, route) => lines.filter((line) => line.method === method && line.route === route).length,
    ask: (person, method, path, options) => ask(server, person, method, path, options),
    close: () => server.close(),
  };
}

const clientOf = (server: TestServer): SupabaseClient =>
  createClient(server.url, server.config.publishableKey, { auth: { persistSession: false, autoRefreshToken: false } });

export async function signUp(server: TestServer, name: string): Promise<Person> {
  const client = clientOf(server);
  const { data, error } = await client.auth.signUp({ email: `${name}@example.com`, password: 'correct horse' });
  if (error) throw error;
  if (!data.user || !data.session) throw new Error('sign-up did not sign in');
  return { id: data.user.id, token: data.session.access_token, client };
}

export async function ask(
  server: TestServer,
  person: Person | null,
  method: string,
  path: string,
  { body, headers = {} }: AskOptions = {},
): Promise<Answered> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: {
      apikey: server.config.publishableKey,
      ...(person && { authorization: `Bearer ${person.token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
