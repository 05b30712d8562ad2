/**
 * `GET /s/<token>`: the document or review of a read-only link, as HTML without script (docs/specification/wins.md 2).
 *
 * Threat: a document is a stranger's text on our origin. Every text of it is escaped, the Content-Security-Policy
 * allows only our fonts and one inline style by its hash, and the page has no link. Threat: the token leaks. The page
 * requests only our fonts, sends no referrer and is stored by no cache, the service worker leaves the path alone, and
 * the log has the route's pattern only.
 */
import { Hono, type Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { parseCoachText, type CoachSpan } from '#domain/coach/coach-text.ts';
import { shortDate, splitReview } from '#domain/coach/win-bullets.ts';
import { dateRangeLabel } from '#domain/day/date-range.ts';
import { TOKEN_PATTERN } from '#domain/documents/document-links.ts';
import { authorOf, lineDate, parseContent, periodLabel, sectionsOf, titleOf } from '#domain/documents/wins-document.ts';
import type { Config } from '../config/config.ts';
import { toDataError } from '../data/errors.ts';
import { RETRY_AFTER_SECONDS } from '../data/respond.ts';
import type { Database } from '../database/database.ts';
import { escapeHtml } from '../escape-html.ts';
import type { AppEnv } from '../http/app-env.ts';
import { clientAddress, networkPrefix } from '../http/client-address.ts';
import { PAGE_STYLE, styleSource } from '../http/page-document.ts';
import { RateLimiterPostgres, RateLimiterRes, rateLimitStore } from '../http/rate-limit-store.ts';
import { findShared, type SharedDocument, type SharedReview } from './link-store.ts';

/**
 * Views by one network address in a minute: enough for an office that opens a link together, far too few to guess
 * tokens.
 */
const VIEWS_PER_MINUTE = 60;

type Deps = { config: Pick<Config, 'auth'>; database: Database };

/** Throws a RateLimiterRes over the limit. */
type CountView = (address: string) => Promise<void>;

function viewCounter({ config, database }: Deps): CountView {
  if (!config.auth.rateLimits) return async () => undefined;
  const limiter = new RateLimiterPostgres({
    ...rateLimitStore(database),
    keyPrefix: 'shared-page',
    points: VIEWS_PER_MINUTE,
    duration: 60,
  });
  return async (address) => void (await limiter.consume(address));
}

export function sharedRoutes(deps: Deps): Hono<AppEnv> {
  const { config, database } = deps;
  const countView = viewCounter(deps);
  const routes = new Hono<AppEnv>();

  routes.get('/:token', async (context) => {
    const token = context.req.param('token');
    try {
      await countView(networkPrefix(clientAddress(context, config.auth)));
      const shared = TOKEN_PATTERN.test(token) ? await findShared(database.asService('a read-only link'), token) : null;
      const page = shared?.kind === 'document' ? documentPage(shared) : shared && reviewPage(shared);
      return page ? respond(context, 200, page) : respond(context, 404, NOT_FOUND);
    } catch (error) {
      if (error instanceof RateLimiterRes) {
        context.header('Retry-After', String(Math.max(1, Math.ceil(error.msBeforeNext / 1000))));
        return respond(context, 429, TOO_MANY);
      }
      if (toDataError(error, true)?.status !== 503) throw error;
      context.header('Retry-After', RETRY_AFTER_SECONDS);
      return respond(context, 503, BUSY);
    }
  });
  return routes;
}

type PageParts = { title: string; content: string };

function respond(context: Context<AppEnv>, status: ContentfulStatusCode, { title, content }: PageParts): Response {
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
  return context.body(body, status, HEADERS);
}

/** Null for a text that is not a document, which only a client other than ours can have stored. */
function documentPage({ title, from, to, content }: SharedDocument): PageParts | null {
  const parsed = parseContent(content);
  if (parsed === null) return null;
  const document = { title, from, to, ...parsed };
  const author = authorOf(document);
  const sections = sectionsOf(document).map(({ heading, wins }) => {
    const items = wins.map(({ date, text }) => winItem(text, date, lineDate(date, document)));
    return `${heading === null ? '' : `<h2 dir="auto">${escapeHtml(heading)}</h2>\n`}${list(items)}`;
  });
  return {
    title: titleOf(document),
    content: `<header>
<h1 dir="auto">${escapeHtml(titleOf(document))}</h1>
<p>${author === '' ? '' : `<bdi>${escapeHtml(author)}</bdi><br>`}${periodLabel(from, to)}</p>
</header>
${sections.join('\n')}`,
  };
}

const winItem = (text: string, date: string, label: string): string =>
  `<li><span dir="auto">${escapeHtml(text)}</span> <time datetime="${escapeHtml(date)}">${escapeHtml(label)}</time></li>`;

const list = (items: readonly string[]): string =>
  items.length === 0 ? '' : `<ul class="wins">\n${items.join('\n')}\n</ul>`;

function reviewPage({ from, to, text: analysis }: SharedReview): PageParts {
  const { text, wins } = splitReview(analysis);
  const blocks = parseCoachText(text).map((block) => {
    if (block.kind === 'paragraph') return `<p>${spansHtml(block.spans)}</p>`;
    const tag = block.kind === 'list' ? 'ul' : 'ol';
    return `<${tag}>${block.items.map((spans) => `<li>${spansHtml(spans)}</li>`).join('')}</${tag}>`;
  });
  const items = wins.map(({ date, text: win }) => winItem(win, date, shortDate(date)));
  return {
    title: 'Review',
    content: `<header>
<h1>Review</h1>
<p>${dateRangeLabel(from, to)}</p>
</header>
<div class="text" dir="auto">${blocks.join('\n')}</div>
${items.length === 0 ? '' : `<h2>Wins</h2>\n${list(items)}`}`,
  };
}

const spansHtml = (spans: readonly CoachSpan[]): string => spans.map(spanHtml).join('');

function spanHtml(span: CoachSpan): string {
  if (span.kind === 'text' || span.kind === 'citation') return escapeHtml(span.text);
  return `<${span.kind}>${spansHtml(span.spans)}</${span.kind}>`;
}

/** One page for every link that shows nothing: it does not tell a link that ended from one that never was. */
const NOT_FOUND = note(
  'Nothing here',
  'This link does not work, or no longer does. Ask whoever sent it for a new one.',
);
const TOO_MANY = note('One moment', 'This page was opened too often from your network. Please try again in a minute.');
const BUSY = note('One moment', 'The server is busy. Please try again in a moment.');

function note(title: string, text: string): PageParts {
  return { title, content: `<header>\n<h1>${title}</h1>\n</header>\n<p>${text}</p>` };
}

const STYLE = `${PAGE_STYLE}main { width: min(40rem, 100%); margin-inline: auto; padding: clamp(2rem, 9dvh, 6rem) 1rem 6rem; }
header { padding-block-end: 1.5rem; border-block-end: 1px solid var(--line); margin-block-end: 1.5rem; }
header p { margin-block-start: 0.75rem; color: var(--quiet); }
h2 { margin-block: 2rem 0.5rem; font: 500 1.44rem/1.3 Newsreader, Georgia, serif; break-after: avoid; }
.text > * + * { margin-block-start: 0.75rem; }
.text :is(ul, ol) { padding-inline-start: 1.25rem; }
strong { font-weight: 600; }
.wins { list-style: none; padding: 0; }
.wins li {
  display: grid;
  grid-template-columns: minmax(0, 1fr) auto;
  gap: 1rem;
  align-items: baseline;
  padding-block: 0.5rem;
  break-inside: avoid;
}
.wins li + li { border-block-start: 1px solid var(--line); }
time { color: var(--quiet); font-size: 0.853rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
@page { margin: 20mm; }
@media print {
  :root { --paper: #fff; --line: #ccc; --ink: #000; --quiet: #555; color-scheme: light; }
  html { font-size: 11pt; }
  main { width: 100%; padding: 0; }
  .wins li { padding-block: 0.25rem; }
}
`;

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src ${styleSource(STYLE)}`,
    "font-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // The sandbox runs no script, should one get past all of this. The page keeps its origin, as fonts of the origin
    // need it.
    'sandbox allow-same-origin',
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
};
