/**
 * `archive` {password} or {nonce}: streams all logs of the caller, locked ones too, in the format of the JSON export
 * (docs/specification/export-and-import.md 6). Offered before the account is deleted, on every plan. It counts as no
 * use of the plan.
 *
 * Threat: a user on the free plan, which has no export, downloads the archive every month instead. Or the thief of a
 * session takes every log. Each download needs a proof of identity, is limited per account, and adds an audit row.
 */
import type { Context } from 'hono';
import type { Day } from '#domain/day/day.ts';
import type { ExportedEntry, FormatWriter } from '#domain/export/exported-entry.ts';
import { jsonWriter } from '#domain/export/formats/json-format.ts';
import type { AuthDeps } from '../auth/http/auth-deps.ts';
import type { AsService } from '../database/database.ts';
import type { AppEnv } from '../http/app-env.ts';
import { runLimited } from '../load/concurrency-limiter.ts';
import type { Limiters } from '../load/limiters.ts';
import { currentRequestContext } from '../load/request-context.ts';
import { readBody } from './wire.ts';

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

export function sendArchive({ auth, limiters }: { auth: AuthDeps; limiters: Limiters }) {
  // Reads at most two pages at a time, for two users. A slow client holds no slot between two pages.
  const limiter = limiters.createLimiter('archives', {
    maxRunning: 2,
    maxPerClient: 1,
    maxQueued: 50,
    maxQueuedPerClient: 2,
  });

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
    const readPage = (after: Position): Promise<ExportedEntry[]> =>
      runLimited(limiter, () => readEntries(service, userId, after), requestContext);
    const parts = writeArchive(jsonWriter({ exportedAt: now }), readPage);
    return new Response(streamOf(parts), {
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

async function* writeArchive(
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
  yield writer.end();
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
