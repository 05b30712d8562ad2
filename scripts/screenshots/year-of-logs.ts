/** Writes a year of varied logs for one account, with the coach's feedback on most of the newest logs. */
import { addDays, dayOf, weekdayOf, type Day } from '#domain/day/day.ts';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import type { Product } from '../../tests/support/product.ts';

const DAYS = 360;
/** Feedback is requested for this many of the newest logs, except for the days that `writeYear` skips. */
const MAX_ANALYSED_LOGS = 36;

/** Sample logs from a vague to a productive day. */
const SAMPLE_LOGS: readonly (readonly string[])[] = [
  ['Looked at some stuff', 'A few things came up'],
  ['Meetings, mostly', 'Talked about the release', 'Answered mail'],
  ['Reviewed four pull requests', 'Talked to the new supplier about terms'],
  ['Wrote the failing test for the import bug, then fixed it', 'Reviewed three pull requests and sent one back'],
  [
    'Shipped the billing reconciliation: 0 open differences since Monday',
    'Wrote the failing test for the import bug, then fixed it',
    'Closed 12 of the 15 oldest support tickets',
    'Sent the offer to two customers and booked both calls',
  ],
];

/** A deterministic pseudo-random index below `count`. */
const pickIndex = (seed: number, count: number): number =>
  Math.floor(Math.abs(Math.sin(seed * 12.9898) * 43_758.5453)) % count;

function createContent(daysAgo: number, date: Day): string | null {
  if (daysAgo === 0) return renderList(SAMPLE_LOGS[4]!);
  const isWeekend = ['Saturday', 'Sunday'].includes(weekdayOf(date));
  if (daysAgo === 9) return '<p>I am sick</p>';
  if (daysAgo !== 3 && (pickIndex(daysAgo, 12) === 0 || (isWeekend && pickIndex(daysAgo + 500, 3) > 0))) return null;
  return renderList(SAMPLE_LOGS[pickIndex(daysAgo + 7, SAMPLE_LOGS.length)]!);
}

const renderList = (items: readonly string[]): string =>
  `<ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`;

type Author = { id: string; token: string };

export async function writeYear(server: Product, author: Author): Promise<void> {
  const today = dayOf(new Date());
  const rows = Array.from({ length: DAYS }, (_, daysAgo) => {
    const date = addDays(today, -daysAgo);
    return { user_id: author.id, date, content: createContent(daysAgo, date) };
  }).filter(({ content }) => content !== null);
  await send(server, author, 'POST', '/rest/v1/entries', rows);
  await send(server, author, 'PATCH', `/rest/v1/profiles?id=eq.${author.id}`, { ai_consent: true });
  await send(server, author, 'POST', '/sandbox/ai-model/__simulator/pace', { ms: 0 });
  for (const { date, content } of rows.slice(0, MAX_ANALYSED_LOGS)) {
    // Days without a score, such as a day of sickness, produce gaps in the chart.
    if (content === '<p>I am sick</p>' || date === addDays(today, -3) || date === addDays(today, -17)) continue;
    await send(server, author, 'POST', '/functions/v1/ai-feedback', { date });
  }
}

async function send(server: Product, author: Author, method: string, path: string, body: object): Promise<void> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${author.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok || text.includes('event: problem')) throw new Error(`${path} answered ${answer.status}: ${text}`);
}
