/** The journal's three most frequent requests to the data API, each for one of the 365 days of `writeYears`. */
import type { Request } from 'autocannon';
import { PUBLISHABLE_KEY } from '#server/config/config.ts';
import { addDays, dayOf } from '#domain/day/day.ts';
import { DAYS_EACH, createLogHtml } from '../seeded-database.ts';
import type { Person } from './people.ts';

/** `index` counts the requests of a run: it chooses the day and makes the saved text unique. */
export type MakeRequest<Of = Person> = (person: Of, index: number) => Request;

export const REPRESENTATION = { prefer: 'return=representation' };
const today = dayOf(new Date());

export const someDay = (index: number): string => addDays(today, -((index * 37) % DAYS_EACH));

export const dayQuery = (user: string, date: string = today): string => `select=*&user_id=eq.${user}&date=eq.${date}`;
export const listQuery = (user: string): string => `select=date&user_id=eq.${user}&order=date.desc`;
export const saveQuery = (user: string, date: string = today): string =>
  `user_id=eq.${user}&date=eq.${date}&select=revision,updated_at`;

export const readDay: MakeRequest = ({ id, token }, index) => ({
  path: `/rest/v1/entries?${dayQuery(id, someDay(index))}`,
  headers: headersOf(token),
});
export const listDates: MakeRequest = ({ id, token }) => ({
  path: `/rest/v1/entries?${listQuery(id)}`,
  headers: headersOf(token),
});
export const saveDay: MakeRequest = ({ id, token }, index) => ({
  method: 'PATCH',
  path: `/rest/v1/entries?${saveQuery(id, someDay(index))}`,
  headers: { ...headersOf(token), ...REPRESENTATION, 'content-type': 'application/json' },
  body: JSON.stringify({ content: createLogHtml(index) }),
});

const headersOf = (token: string): Record<string, string> => ({
  apikey: PUBLISHABLE_KEY,
  authorization: `Bearer ${token}`,
  'accept-profile': 'public',
});
