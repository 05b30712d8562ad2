/** A Closer with a year behind them: logs of every kind, and what the sandbox's coach said about the last five weeks. */
import { addDays, dayOf, weekdayOf } from '../../src/domain/day.ts';
import type { Day } from '../../src/domain/day.ts';
import { PUBLISHABLE_KEY } from '../../src/server/config.ts';
import type { ShowServer } from './show-server.ts';

const YEAR = 360;
const JUDGED = 36;

/** From a day worth nothing to one worth telling. The last was no workday at all. */
const KINDS: readonly (readonly string[])[] = [
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

/** The same numbers each time, without any order that the eye finds. */
const pick = (seed: number, of: number): number => Math.floor(Math.abs(Math.sin(seed * 12.9898) * 43_758.5453)) % of;

function contentOf(back: number, date: Day): string | null {
  if (back === 0) return listOf(KINDS[4]!);
  const weekend = ['Saturday', 'Sunday'].includes(weekdayOf(date));
  if (back === 9) return '<p>I am sick</p>';
  if (back !== 3 && (pick(back, 12) === 0 || (weekend && pick(back + 500, 3) > 0))) return null;
  return listOf(KINDS[pick(back + 7, KINDS.length)]!);
}

const listOf = (items: readonly string[]): string =>
  `<ol>${items.map((item) => `<li><p>${item}</p></li>`).join('')}</ol>`;

type Reader = { id: string; token: string };

export async function writeYear(server: ShowServer, person: Reader): Promise<void> {
  const today = dayOf(new Date());
  const rows = Array.from({ length: YEAR }, (_day, back) => {
    const date = addDays(today, -back);
    return { user_id: person.id, date, content: contentOf(back, date) };
  }).filter(({ content }) => content !== null);
  await send(server, person, 'POST', '/rest/v1/entries', rows);
  await send(server, person, 'PATCH', `/rest/v1/profiles?id=eq.${person.id}`, { ai_consent: true });
  await send(server, person, 'POST', '/sandbox/ai-model/__simulator/pace', { ms: 0 });
  for (const { date, content } of rows.slice(0, JUDGED)) {
    // Two days stay without a score: the plot shows a gap there.
    if (content === '<p>I am sick</p>' || date === addDays(today, -3) || date === addDays(today, -17)) continue;
    await send(server, person, 'POST', '/functions/v1/ai-feedback', { date });
  }
}

async function send(server: ShowServer, person: Reader, method: string, path: string, body: object): Promise<void> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { apikey: PUBLISHABLE_KEY, authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const said = await answer.text();
  if (!answer.ok || said.includes('event: problem')) throw new Error(`${path} answered ${answer.status}: ${said}`);
}
