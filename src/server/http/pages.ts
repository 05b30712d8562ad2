/**
 * Serves the HTML pages. Landing and legal pages are prerendered; all other routes share the app page. The route
 * decides about the preloaded chunks and about what the page shows before React starts.
 */
import { readFile, readdir } from 'node:fs/promises';
import { join, extname, relative, sep } from 'node:path';
import { Hono, type Handler, type Context } from 'hono';
import { SHARE_PATH, sharedTextAddress } from '#domain/shared-text.ts';
import { ROUTES, type RouteName } from '#domain/routes.ts';
import type { Config } from '../config/config.ts';
import type { AppEnv } from './app-env.ts';
import { appPagePolicy } from './security-headers.ts';
import { escapeHtml } from '../escape-html.ts';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import type { ClientConfig } from '#domain/client-config.ts';

const PRERENDERED: Partial<Record<RouteName, string>> = {
  landing: '/landing.html',
  terms: '/terms.html',
  privacy: '/privacy.html',
};
const APP_PAGE = '/app.html';
const HTML = 'text/html; charset=utf-8';
const SERVICE_WORKER_PATH = '/service-worker.js';
/** Served in the worker's place with SERVICE_WORKER=off: deletes the worker's caches and unregisters it. */
const REMOVING_WORKER = '/service-worker-off.js';
/** The placeholder in the built worker for the version of the pages. */
const SHELL_VERSION = 'hustle-forge-shell-version';
/** The program that the server offers for download, and the placeholder in it for the address of this server. */
const COMMAND_LINE_PATH = '/cli/hustle.cjs';
const SERVER_ADDRESS = 'HUSTLE-FORGE-SERVER';
/** The request header of a page that the browser loads while it starts the service worker: the worker's `shellVersion`. */
const WORKER_PRELOAD = 'Service-Worker-Navigation-Preload';

/**
 * `.vite/routes.json` of the build: the files of each route's code, by their path below `dist`. `early`: those of its
 * scripts that open the screen before React.
 */
type RouteFiles = Partial<Record<RouteName, { early: string[]; scripts: string[]; styles: string[] }>>;

/**
 * `preloads`: a `Link` header, so that a deep link causes no request waterfall. What the first paint waits for comes
 * first: over HTTP/1.1 a browser opens six connections, and asks for these files before it reads the page. `policy`:
 * this page's own Content-Security-Policy. Null: the default one of pages (`security-headers.ts`).
 */
type Page = { file: BuiltFile; preloads: string; policy: string | null };
export type Site = {
  files: BuiltFiles;
  pages: ReadonlyMap<string, Page>;
  /** The version of the pages that the service worker stores. */
  shellVersion: string;
  configJson: string;
};

/** Reads the build output. Without a build, the server has an API but no pages. */
export async function loadSite(folder: string, config: Config): Promise<Site> {
  const files = await readBuiltFiles(folder);
  const routeFiles = JSON.parse(
    await readFile(join(folder, '.vite', 'routes.json'), 'utf8').catch(() => '{}'),
  ) as RouteFiles;
  const slots = templateValues(config);
  const sections = visibleSections(config);
  const fill = async (
    file: string,
    shown: ReadonlySet<string>,
    styles: readonly string[],
    late: readonly string[],
  ): Promise<string | null> => {
    const built = files.get(file);
    if (!built) return null;
    const html = fillSlots(renderConditionals(await readText(built), shown), slots);
    // Vite would request each style sheet when its chunk is imported. The page links those of its entry already, which
    // the styles of a screen override.
    const added = styles
      .map((style) => `<link rel="stylesheet" crossorigin href="/${style}">`)
      .filter((link) => !html.includes(link))
      .join('');
    const linked = html.replace('</head>', `${added}</head>`);
    return late.length > 0 ? delayPreloads(linked, late) : linked;
  };
  const pages = new Map<string, Page>();
  const createPage = async ([name, { path }]: [RouteName, (typeof ROUTES)[RouteName]]): Promise<void> => {
    const prerendered = PRERENDERED[name];
    const isApp = prerendered === undefined;
    // The route's own section has what the page shows before React starts.
    const shown = new Set([...sections, name]);
    const { early, scripts, styles } = routeFiles[name] ?? { early: [], scripts: [], styles: [] };
    const late = early.length > 0 ? scripts.filter((script) => !early.includes(script)) : [];
    const html = await fill(prerendered ?? APP_PAGE, shown, styles, late);
    if (html === null) return;
    pages.set(path, {
      file: await compressFile(html, HTML),
      preloads: isApp ? preloadsOf(html, early, scripts) : '',
      policy: isApp ? appPagePolicy(config) : null,
    });
  };
  await Promise.all((Object.entries(ROUTES) as [RouteName, (typeof ROUTES)[RouteName]][]).map(createPage));
  const shellVersion = shellVersionOf([ROUTES.journal, ROUTES.landing].map(({ path }) => pages.get(path)?.file));
  const worker = await serviceWorkerFile(files, shellVersion, config.serviceWorker);
  const served = new Map(files);
  if (worker) served.set(SERVICE_WORKER_PATH, worker);
  const program = files.get(COMMAND_LINE_PATH);
  if (program) {
    const body = Buffer.from((await readText(program)).replaceAll(SERVER_ADDRESS, config.publicUrl));
    served.set(COMMAND_LINE_PATH, { type: program.type, body, isBrotli: false, etag: etagOf(body) });
  }
  return { files: served, pages, shellVersion, configJson: JSON.stringify(clientConfig(config)) };
}

/** A page with an early editor loads that first. Its boot script inserts the content of this template later. */
function delayPreloads(html: string, scripts: readonly string[]): string {
  const delayed = Array.from(html.matchAll(DELAYED), ([element]) => element);
  const preloads = scripts.map((script) => `<link rel="modulepreload" crossorigin href="/${script}">`);
  const template = `<template id="late-preloads">${[...delayed, ...preloads].join('')}</template>`;
  return html.replace(DELAYED, '').replace('<script src', `${template}<script src`);
}

const SANDBOX_SCRIPT = '<script src="/sandbox/page.js" type="module"></script>';
const DELAYED = new RegExp(`<link rel="preload" [^>]*as="font"[^>]*>|${SANDBOX_SCRIPT}`, 'g');
const STYLE_SHEET = /<link rel="stylesheet" crossorigin href="([^"]+)">/g;
const CLASSIC_SCRIPT = /<script src="([^"]+)">/g;

const preloadsOf = (html: string, early: readonly string[], scripts: readonly string[]): string =>
  [
    ...Array.from(html.matchAll(STYLE_SHEET), ([, path]) => `<${path}>; rel=preload; as=style; crossorigin`),
    ...Array.from(html.matchAll(CLASSIC_SCRIPT), ([, path]) => `<${path}>; rel=preload; as=script`),
    ...early.map((script) => `</${script}>; rel=modulepreload`),
    // Low priority: the page paints its frame without them.
    ...(early.length > 0 ? [] : scripts).map((script) => `</${script}>; rel=modulepreload; fetchpriority=low`),
  ].join(', ');

/** Routes for pages, `/config.json` and files; anything else falls through to the app's not-found handler. */
export function pageRoutes(site: Site): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  routes.get('/config.json', (context) => {
    context.header('Cache-Control', 'no-cache');
    return context.body(site.configJson, 200, { 'Content-Type': 'application/json; charset=utf-8' });
  });
  for (const [path, { file, preloads, policy }] of site.pages) {
    routes.get(path, (context) => {
      // Revalidate: a page references the hashed files of one build, and files of an earlier build may be gone.
      context.header('Cache-Control', 'no-cache');
      if (preloads !== '') {
        context.header('Vary', WORKER_PRELOAD, { append: true });
        // The worker of this version has these files. Preloading all of them delays the boot script by 3 to 6 ms.
        if (context.req.header(WORKER_PRELOAD) !== site.shellVersion) context.header('Link', preloads);
      }
      if (policy !== null) context.header('Content-Security-Policy', policy);
      return respondWithFile(file, context);
    });
  }
  for (const [path, font] of fontsOf(site.files)) {
    routes.get(path, (context) => {
      context.header('Cache-Control', 'no-cache');
      return respondWithFile(font, context);
    });
  }
  // Only a browser without the service worker sends this request. The worker keeps shared text in the browser.
  routes.get(SHARE_PATH, (context) => {
    context.header('Cache-Control', 'no-store');
    return context.redirect(
      sharedTextAddress((name) => context.req.query(name)),
      303,
    );
  });
  const file: Handler<AppEnv> = (context) => staticFile(site.files, context) ?? context.notFound();
  routes.get('/assets/*', file);
  for (const path of site.files.keys()) if (!path.startsWith('/assets/')) routes.get(path, file);
  return routes;
}

/** The two text fonts, under names without a hash, for the pages that the server writes itself (http/page-document.ts). */
function fontsOf(files: BuiltFiles): Map<string, BuiltFile> {
  const fonts = new Map<string, BuiltFile>();
  for (const [path, file] of files) {
    const name = /^\/assets\/(instrument-sans|newsreader)-latin-wght-normal-[^/]+\.woff2$/.exec(path)?.[1];
    if (name !== undefined) fonts.set(`/fonts/${name}.woff2`, file);
  }
  return fonts;
}

/** Changes with the `pages` that the worker stores, and so with the files that they name. */
const shellVersionOf = (pages: readonly (BuiltFile | undefined)[]): string =>
  etagOf(pages.map((page) => page?.etag).join()).slice(3, -1);

/** The service worker's file. Its bytes change with the pages that it stores. Null without a build. */
async function serviceWorkerFile(files: BuiltFiles, version: string, isOn: boolean): Promise<BuiltFile | null> {
  const built = files.get(isOn ? SERVICE_WORKER_PATH : REMOVING_WORKER);
  if (!built) return null;
  return compressFile((await readText(built)).replaceAll(SHELL_VERSION, version), built.type);
}

const link = (href: string, text: string): string => `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`;

/**
 * The value of each `<!--slot:NAME-->` of the built HTML, escaped; empty if the operator has not set it. None has an
 * inline script.
 */
function templateValues(config: Config): Record<string, string> {
  const { contact } = config;
  const social = contact.social.map(({ label, url }) => `<li>${link(url, label)}</li>`).join('');
  return {
    config: `<meta name="hustle-forge-config" content="${escapeHtml(JSON.stringify(clientConfig(config)))}">`,
    sandbox:
      config.sandbox.url === null
        ? ''
        : '<aside aria-label="Sandbox"><a class="sandbox-badge" href="/sandbox">Sandbox</a></aside>' +
          // The script simulates the wallets that a visitor may have as extensions of the browser.
          SANDBOX_SCRIPT,
    contact: contact.email === undefined ? '' : link(`mailto:${contact.email}`, contact.email),
    // An address that is set for contact and for support is shown once.
    support:
      contact.supportEmail === undefined || contact.supportEmail === contact.email
        ? ''
        : link(`mailto:${contact.supportEmail}`, contact.supportEmail),
    social: social === '' ? '' : `<ul class="social-links">${social}</ul>`,
    operator: [contact.operator, contact.address]
      .filter((part) => part !== undefined)
      .map(escapeHtml)
      .join(', '),
  };
}

/** The names of the `<!--when:NAME-->…<!--/when-->` sections that this server shows. */
const visibleSections = ({ coach, auth }: Pick<Config, 'coach' | 'auth'>): ReadonlySet<string> =>
  new Set([coach === null ? 'nocoach' : 'coach', auth.signups ? 'signups' : 'nosignups']);

/** A section without a section in it. */
const INNER_SECTION = /<!--when:(\w+)-->((?:(?!<!--when:)[^])*?)<!--\/when-->/g;

export function renderConditionals(html: string, shown: ReadonlySet<string>): string {
  const rendered = html.replace(INNER_SECTION, (_whole, name: string, part: string) => (shown.has(name) ? part : ''));
  return rendered === html ? html : renderConditionals(rendered, shown);
}

const fillSlots = (html: string, slots: Record<string, string>): string =>
  html.replace(/<!--\s*slot:([a-z]+)\s*-->/g, (_comment, name: string) => slots[name] ?? '');

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
/** A start compresses every page. The best quality takes 2.4 times as long and saves 2 %. */
const START_QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };

type BuiltFile = {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** False for formats that are compressed already (fonts, images), and for files without a Brotli variant. */
  readonly isBrotli: boolean;
  readonly etag: string;
  /** The content of a Brotli file without compression, kept once it has been read. */
  plain?: Promise<Uint8Array<ArrayBuffer>>;
};

/**
 * The built client, held in memory (about 1 MB). Keys are URL paths, `/assets/journal-1a2b3c.js`. Threat: path
 * traversal. Requests only look up keys of this map and never access the file system.
 */
type BuiltFiles = ReadonlyMap<string, BuiltFile>;

const TYPES: Record<string, string> = {
  '.cjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** A weak ETag, because compressed and plain variants share it. */
const etagOf = (body: Uint8Array | string): string =>
  `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;

/** The content of a file without compression. */
function readPlain(file: BuiltFile): Promise<Uint8Array<ArrayBuffer>> {
  if (!file.isBrotli) return Promise.resolve(file.body);
  return (file.plain ??= decompress(file.body));
}

const readText = async (file: BuiltFile): Promise<string> => Buffer.from(await readPlain(file)).toString('utf8');

/** Reads the build output of the types in `TYPES` (no source maps), without hidden folders. Empty without a build. */
async function readBuiltFiles(folder: string): Promise<BuiltFiles> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = names
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').some((part) => part.startsWith('.')));
  const present = new Set(paths);
  const files = new Map<string, BuiltFile>();
  await Promise.all(
    paths.map(async (path) => {
      const type = TYPES[extname(path)];
      if (type === undefined) return;
      const isBrotli = present.has(`${path}.br`);
      const body = await readFile(join(folder, isBrotli ? `${path}.br` : path));
      files.set(`/${path}`, { type, body, isBrotli, etag: etagOf(body) });
    }),
  );
  return files;
}

/** Compresses a text that is only known when the server starts. */
async function compressFile(text: string, type: string): Promise<BuiltFile> {
  return { type, body: await compress(text, START_QUALITY), isBrotli: true, etag: etagOf(text) };
}

/** Vite puts a content hash into these names, so they are immutable. */
const HASHED_FOLDER = '/assets/';
const CACHE_IMMUTABLE = 'public, max-age=31536000, immutable';
const CACHE_REVALIDATE = 'no-cache';

/**
 * The file for a path; null when the build has none, or for an HTML page, which has a route of its own in `pageRoutes`.
 */
function staticFile(files: BuiltFiles, context: Context<AppEnv>): Promise<Response> | null {
  const { path } = context.req;
  const file = path.endsWith('.html') ? undefined : files.get(path);
  if (!file) return null;
  context.header('Cache-Control', path.startsWith(HASHED_FOLDER) ? CACHE_IMMUTABLE : CACHE_REVALIDATE);
  return respondWithFile(file, context);
}

/** Responds to GET and HEAD with `ETag` and `Content-Encoding`; the caller has set `Cache-Control`. */
async function respondWithFile(file: BuiltFile, context: Context<AppEnv>): Promise<Response> {
  context.header('ETag', file.etag);
  if (file.isBrotli) context.header('Vary', 'Accept-Encoding', { append: true });
  if (context.req.header('if-none-match')?.includes(file.etag)) return context.body(null, 304);
  context.header('Content-Type', file.type);
  if (!file.isBrotli || !acceptsBrotli(context.req.header('accept-encoding')))
    return context.body(await readPlain(file));
  context.header('Content-Encoding', 'br');
  return context.body(file.body);
}

const acceptsBrotli = (accepted: string | undefined): boolean =>
  accepted?.split(',').some((coding) => /^\s*br\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/.test(coding)) ?? false;

/** The public settings for the browser (`/config.json`, also inlined into every page to save a request). */
export function clientConfig(config: Config): ClientConfig {
  const { auth } = config;
  // A real model may be configured while mail and payments use the sandbox.
  const sandboxModel = config.coach !== null && new URL(config.coach.baseUrl).origin === config.sandbox.url;
  return {
    apiUrl: config.apiUrl,
    publishableKey: config.publishableKey,
    features: {
      payments: config.paypal !== null,
      coach: config.coach !== null,
      mail: config.mail.smtpUrl !== null,
      mailReplies: config.mail.smtpUrl !== null && config.inbound !== null,
      push: config.push !== null,
      serviceWorker: config.serviceWorker,
    },
    signIn: {
      signups: auth.signups,
      providers: auth.oauthProviders.map(({ name, label }) => ({ name, label })),
      linking: auth.manualLinking,
      passkeys: auth.passkeys,
      mailCodes: config.mail.smtpUrl !== null,
      phone: auth.sms !== null,
      sso: auth.samlKeyFile !== null,
      captcha: auth.captcha && {
        provider: auth.captcha.provider,
        siteKey: auth.captcha.siteKey,
        scriptUrl: auth.captcha.scriptUrl,
      },
      wallets: auth.web3,
    },
    sandboxModel,
    coachProvider: sandboxModel ? "the sandbox's own model on this machine" : (config.coach?.providerName ?? null),
    paymentBlockedCountries: config.paymentBlockedCountries,
    contact: config.contact,
  };
}
