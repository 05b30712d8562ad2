/** What a period offers to pick: its logs, and the wins that reviews have named in it. */
import { splitReview, type DayText } from '#domain/coach/win-bullets.ts';
import type { Day } from '#domain/day/day.ts';
import { candidateDays, type CandidateDay, type DayLog } from '#domain/documents/win-candidates.ts';
import type { DataClient } from '#client/lib/api/data-client.ts';

const PAGE_ROWS = 400;
/** The code of the data wire for an answer with more texts than it may have. */
const ANSWER_TOO_LONG = '54000';

export async function readCandidates(
  data: DataClient,
  userId: string,
  { from, to }: { from: Day; to: Day },
  signal: AbortSignal,
): Promise<CandidateDay[]> {
  const [logs, wins] = await Promise.all([
    readLogs(data, userId, from, to, signal),
    readWins(data, userId, from, to, signal),
  ]);
  return candidateDays(logs, wins);
}

async function readLogs(data: DataClient, userId: string, from: Day, to: Day, signal: AbortSignal): Promise<DayLog[]> {
  const logs: DayLog[] = [];
  let size = PAGE_ROWS;
  for (;;) {
    const last = logs.at(-1)?.date;
    const all = data.from('entries').select('date, content, hustle_score').eq('user_id', userId).lte('date', to);
    const { data: rows, error } = await (last === undefined ? all.gte('date', from) : all.gt('date', last))
      .order('date')
      .limit(size)
      .abortSignal(signal)
      .retry(false);
    if (error?.code === ANSWER_TOO_LONG && size > 1) {
      size = Math.ceil(size / 4);
      continue;
    }
    if (error) throw new Error(error.message);
    logs.push(...rows.map(({ date, content, hustle_score: score }) => ({ date, html: content, score })));
    if (rows.length < size) return logs;
  }
}

const REVIEWS_PER_PAGE = 100;

async function readWins(data: DataClient, userId: string, from: Day, to: Day, signal: AbortSignal): Promise<DayText[]> {
  const { data: rows } = await data
    .from('reviews')
    .select('text')
    .eq('user_id', userId)
    .lte('period_from', to)
    .gte('period_to', from)
    .order('created_at', { ascending: false })
    .limit(REVIEWS_PER_PAGE)
    .abortSignal(signal)
    .retry(false)
    .throwOnError();
  return rows.flatMap(({ text }) => splitReview(text).wins).filter(({ date }) => date >= from && date <= to);
}
