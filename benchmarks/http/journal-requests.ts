/** The journal's most frequent requests, each for one of the 365 days of `writeYears`. */
import { randomUUID } from 'node:crypto';
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

/** A save that is built when it is sent, as an append must be, so that both cost the load generator the same. */
export const saveDayAnew: MakeRequest = (person, index) => ({
  ...saveDay(person, index),
  setupRequest: (request) => ({ ...request, headers: { ...request.headers, 'idempotency-key': randomUUID() } }),
});

/** The number of days each person appends to. A version of each is kept while the load warms up. */
const APPEND_DAYS = 40;
let appends = 0;

/** With a personal access token. */
export const appendItem: MakeRequest = ({ token }) => ({
  method: 'POST',
  path: '/functions/v1/append-item',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  // A load repeats its requests: a repeated key would append nothing, and a day that is repeated grows.
  setupRequest: (request) => ({
    ...request,
    headers: { ...request.headers, 'idempotency-key': randomUUID() },
    body: JSON.stringify({ text: 'Shipped a change', date: someDay(Math.floor(appends++ / 100) % APPEND_DAYS) }),
  }),
});

const headersOf = (token: string): Record<string, string> => ({
  apikey: PUBLISHABLE_KEY,
  authorization: `Bearer ${token}`,
  'accept-profile': 'public',
});
