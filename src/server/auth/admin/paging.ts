/** Pages of the lists of the admin routes: `page` and `per_page`, and the headers that lead to other pages. */
import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import { checkStorableText } from '../http/body.ts';
import { invalidRequest } from '../http/errors.ts';

const DEFAULT_PER_PAGE = 50;
const MAX_PER_PAGE = 1_000;

export type Page = { number: number; size: number; offset: number };

/** supabase-js sends an empty text for an omitted parameter. A size over 1,000 counts as 1,000. Throws an AuthError. */
export function readPage(context: Context<AppEnv>): Page {
  // Page 0 is the first one, as in supabase/auth.
  const number = Math.max(1, readCount(context, 'page', 1, /^\d{1,9}$/));
  const size = Math.min(readCount(context, 'per_page', DEFAULT_PER_PAGE, /^[1-9]\d{0,8}$/), MAX_PER_PAGE);
  return { number, size, offset: (number - 1) * size };
}

function readCount(context: Context<AppEnv>, name: string, otherwise: number, form: RegExp): number {
  const text = context.req.query(name) ?? '';
  if (text === '') return otherwise;
  if (!form.test(text)) throw invalidRequest(`Bad Pagination Parameters: ${name} must be a positive number`);
  return Number(text);
}

/**
 * `page` must be the first parameter of a link: supabase-js reads the page number after the first `=`. The links keep the
 * request's other parameters.
 */
export function setPageHeaders(context: Context<AppEnv>, { number, size }: Page, total: number): void {
  const last = Math.max(1, Math.ceil(total / size));
  const kept = new URL(context.req.url).searchParams;
  for (const name of ['page', 'per_page']) kept.delete(name);
  const linkTo = (page: number, rel: string): string =>
    `<${context.req.path}?${[`page=${page}&per_page=${size}`, ...(kept.size > 0 ? [kept.toString()] : [])].join('&')}>; rel="${rel}"`;
  const links = [...(number < last ? [linkTo(number + 1, 'next')] : []), linkTo(last, 'last')];
  context.header('X-Total-Count', String(total));
  context.header('Link', links.join(', '));
}

/** Returns an empty text for a missing parameter. Throws an AuthError for text that PostgreSQL cannot compare with. */
export function readQueryText(context: Context<AppEnv>, name: string): string {
  const text = context.req.query(name) ?? '';
  checkStorableText(text);
  return text;
}

/** A pattern of `ilike` for the texts that contain this one. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
