/** Test fixture of /rest/v1: users Ana and Ben with a free plan, Cleo with a premium one, and a guest. */
import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { addDays, day, type Day } from '#domain/day/day.ts';
import { startTestServer, type TestServer } from '../../support/start-server.ts';

export type Person = { readonly id: string; readonly token: string; readonly client: SupabaseClient };

export type DataWorld = {
  readonly server: TestServer;
  readonly ana: Person;
  readonly ben: Person;
  readonly cleo: Person;
  readonly guest: SupabaseClient;
  /** Error lines of the server's log; tests assert that it is empty. */
  readonly errorsLogged: string[];
  /** Number of finished requests by method and route, including aborted ones. */
  finishedRequests(method: string, route: string): number;
  /** Sends a raw request. A string `body` is sent unchanged, other values as JSON. */
  request(person: Person | null, method: string, path: string, options?: RequestOptions): Promise<WireResponse>;
  close(): Promise<void>;
};

type RequestOptions = { body?: unknown; headers?: Record<string, string> };
export type WireResponse = { status: number; headers: Headers; text: string; json: unknown };

type LogLine = { level: string; method?: string; route?: string };

/**
 * The current UTC date. It differs from the local date of any time zone by at most one day, so no test depends on the
 * time of day.
 */
export const today = (): Day => day(new Date().toISOString().slice(0, 10));
export const daysAgo = (count: number): Day => addDays(today(), -count);

export async function startDataWorld(settings: Record<string, string> = {}): Promise<DataWorld> {
  const lines: LogLine[] = [];
  const errorsLogged: string[] = [];
  const server = await startTestServer({
    settings,
    logTo: {
      write(text) {
        const line = JSON.parse(text) as LogLine;
        lines.push(line);
        if (line.level === 'error' || line.level === 'fatal') errorsLogged.push(text);
      },
    },
  });
  const [ana, ben, cleo] = await Promise.all(['ana', 'ben', 'cleo'].map((name) => signUp(server, name)));
  if (!ana || !ben || !cleo) throw new Error('expected three users');
  await server.admin.query(`update public.profiles set subscription_plan = 'premium' where id = $1`, [cleo.id]);
  return {
    server,
    ana,
    ben,
    cleo,
    guest: clientOf(server),
    errorsLogged,
    finishedRequests: (method, route) => lines.filter((line) => line.method === method && line.route === route).length,
    request: (person, method, path, options) => request(server, person, method, path, options),
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

export async function request(
  server: TestServer,
  person: Person | null,
  method: string,
  path: string,
  { body, headers = {} }: RequestOptions = {},
): Promise<WireResponse> {
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
  return { status: response.status, headers: response.headers, text, json: parseOrUndefined(text) };
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
