/**
 * `archive` {password} or {nonce}: streams what the caller has written and chosen: all logs, locked ones too, in the
 * format of the JSON export, then reviews, documents, time off and preferences (docs/specification/export-and-import.md
 * 6). Offered before the account is deleted, on every plan. It does not count as a use of the plan.
 *
 * Threat: a user on the free plan, which has no export, downloads the archive every month instead. Or the thief of a
 * session takes every log. Each download needs a proof of identity, is limited per account, and adds an audit row.
 */
import type { Context } from 'hono';
import type { Day } from '#domain/day/day.ts';
import type { ExportedEntry, FormatWriter } from '#domain/exported-entry.ts';
import { documentMarkdown, parseContent } from '#domain/documents/wins-document.ts';
import { JSON_END, JSON_ENTRIES_END, jsonWriter } from '#domain/export/formats/json-format.ts';
import type { AuthDeps } from '../auth/http/auth-deps.ts';
import type { AsService } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { currentRequestContext } from '../load/request-context.ts';
import { readBody } from './function-request.ts';

/** A log has at most 256 KB, so a page has little more than 6 MB. */
const PAGE_ROWS = 25;

/** Runs as the service, because row-level security hides locked days on the free plan. Reads only rows of the user. */
const READ_PAGE = `
  select date::text, content, hustle_score as "hustleScore", ai_feedback as feedback,
         to_json(ai_analyzed_at) #>> '{}' as "analyzedAt"
    from public.entries where user_id = $1 and date > $2::date order by date limit ${PAGE_ROWS}`;
const BEFORE_ALL_DAYS = '-infinity';

/** The date of the last row read. */
type Position = Day | typeof BEFORE_ALL_DAYS;

const PAGES = { maxRunning: 2, maxPerClient: 1, maxQueued: 50, maxQueuedPerClient: 2 };

export function sendArchive({ auth, limiters }: { auth: AuthDeps; limiters: Limiters }) {
  // Reads at most two pages at a time, for two users. A slow client holds no slot between two pages.
  const limiter = limiters.createLimiter('archives', PAGES);

  return async function downloadArchive(context: Context<AppEnv>): Promise<Response> {
    // Loaded at the first use, because few servers ever need it.
    const { authorizeArchive } = await import('../auth/own-account/account.ts');
    const body = await readBody(context);
    const userId = await authorizeArchive(context, auth, {
      password: textOf(body['password']),
      nonce: textOf(body['nonce']),
    });
    const now = auth.clock.now();
    const service = auth.database.asService('read an archive');
    // The stream reads its pages after this function has returned, when AsyncLocalStorage no longer has the request's
    // context. The limiter needs that context to know whose client is reading.
    const requestContext = currentRequestContext();
    const read = <Result>(work: () => Promise<Result>): Promise<Result> => runLimited(limiter, work, requestContext);
    const readPage = (after: Position): Promise<ExportedEntry[]> => read(() => readEntries(service, userId, after));
    const readOthers = (part: ArchivePart, last: OtherRow): Promise<OtherRow[]> =>
      read(async () => (await service.statement<OtherRow>(part.page, [userId, last.at, last.id])).rows);
    const readPreferences = (): Promise<unknown> =>
      read(
        async () => (await service.statement<{ value: unknown }>(READ_PREFERENCES, [userId])).rows[0]?.value ?? null,
      );
    async function* writeFile(): AsyncGenerator<string> {
      yield* writeEntries(jsonWriter({ exportedAt: now }), readPage);
      for (const part of PARTS) yield* writePart(part, (last) => readOthers(part, last));
      yield `, "preferences": ${JSON.stringify(await readPreferences())}${JSON_END}`;
    }
    return new Response(streamOf(writeFile()), {
      headers: {
        'Content-Type': 'application/json',
        'Content-Disposition': `attachment; filename="hustle-forge-${now.toISOString().slice(0, 10)}.json"`,
        'Cache-Control': 'no-store',
      },
    });
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

async function readEntries(service: AsService, userId: string, after: Position): Promise<ExportedEntry[]> {
  return (await service.statement<ExportedEntry>(READ_PAGE, [userId, after])).rows;
}

async function* writeEntries(
  writer: FormatWriter,
  readPage: (after: Position) => Promise<ExportedEntry[]>,
): AsyncGenerator<string> {
  yield writer.begin();
  let last: Position = BEFORE_ALL_DAYS;
  let written = 0;
  for (;;) {
    const page = await readPage(last);
    if (page.length > 0) yield page.map((entry, index) => writer.entry(entry, written + index)).join('');
    written += page.length;
    if (page.length < PAGE_ROWS) break;
    last = page.at(-1)!.date;
  }
  yield JSON_ENTRIES_END;
}

/** `at` and `id` are the position of a row. */
type OtherRow = { at: string; id: string; value: unknown };
const BEFORE_ALL: OtherRow = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000', value: null };

/** A member of the file beside the logs. */
type ArchivePart = { name: string; rows: number; page: string; format?: (value: never) => unknown };

/** The SQL of the page of a table that follows the row at `$2`, `$3`, oldest first. `$1` is the user. */
const pageOf = (table: string, rows: number, value: string): string => `
  select created_at::text as at, id, json_build_object(${value}) as value
    from public.${table} where user_id = $1 and (created_at, id) > ($2::timestamptz, $3::uuid)
   order by created_at, id limit ${rows}`;

const PARTS: readonly ArchivePart[] = [
  {
    name: 'reviews',
    rows: 25,
    page: pageOf(
      'reviews',
      25,
      `'period', period, 'from', period_from, 'to', period_to, 'createdAt', created_at, 'text', text`,
    ),
  },
  {
    // A document has at most 256 KB.
    name: 'documents',
    rows: 5,
    page: pageOf(
      'documents',
      5,
      `'title', title, 'from', first_day, 'to', last_day, 'changedAt', updated_at, 'content', content`,
    ),
    format: ({ content, ...document }: StoredDocument) => ({
      ...document,
      markdown: documentMarkdown({ ...document, ...(parseContent(content) ?? { author: '', lines: [] }) }),
    }),
  },
  { name: 'timeOff', rows: 500, page: pageOf('time_off', 500, `'from', first_day, 'to', last_day`) },
];
type StoredDocument = { title: string; from: Day; to: Day; changedAt: string; content: string };

const READ_PREFERENCES = "select to_jsonb(preferences) - 'user_id' as value from public.preferences where user_id = $1";

async function* writePart(
  { name, rows, format = (value) => value }: ArchivePart,
  readPage: (last: OtherRow) => Promise<OtherRow[]>,
): AsyncGenerator<string> {
  yield `, ${JSON.stringify(name)}: [`;
  let last = BEFORE_ALL;
  for (let written = 0; ;) {
    const page = await readPage(last);
    for (const { value } of page) {
      yield `${written === 0 ? '' : ','}\n${JSON.stringify(format(value as never))}`;
      written += 1;
    }
    if (page.length < rows) break;
    last = page.at(-1)!;
  }
  yield '\n]';
}

/** Pulls the next part once the client has read the previous one, and none after the client has disconnected. */
function streamOf(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      cancel: async () => void (await parts.return(undefined)),
    },
    { highWaterMark: 0 },
  );
}
