/**
 * Builds the client: the app page and three prerendered pages. `npm run check` enforces JavaScript budgets for the app
 * and the landing page (bundle-budget.ts).
 */
import react from '@vitejs/plugin-react';
import { basename, join, parse } from 'node:path';
import { defineConfig } from 'vite';
import { brotliAtBuild } from './scripts/vite/brotli.ts';
import { bootScript } from './scripts/vite/boot-script.ts';
import { cssSideEffects } from './scripts/vite/css-side-effects.ts';
import { linkStyles } from './scripts/vite/link-styles.ts';
import { pageRoutes } from './scripts/vite/page-routes.ts';
import { preloadFonts } from './scripts/vite/preload-fonts.ts';
import { prerender } from './scripts/vite/prerender.ts';
import { serviceWorker } from './scripts/vite/service-worker.ts';
import { LAZY_MODULES } from './src/server/site/preloads.ts';

const SERVER = process.env['DEV_SERVER_URL'] ?? 'http://127.0.0.1:3000';
const SANS = 'instrument-sans-latin-wght-normal';
const SERIF = 'newsreader-latin-wght-normal';
const SERVED_BY_SERVER = ['/auth', '/rest', '/functions', '/sandbox', '/config.json', '/healthz', '/readyz'];

/** Returns a class name such as `button-primary`, the same one for prerendered markup and for the built style sheet. */
const readableClassName = (name: string, file: string): string =>
  `${basename(file.split('?')[0]!, '.module.css')}-${name}`;

/**
 * The manual chunks; the matching group with the highest priority wins. Without these chunks every shared module
 * becomes its own file and a first visit makes thirty requests. Larger chunks would put React into the landing page.
 */
const CHUNKS = [
  {
    name: 'base',
    test: /vite\/preload-helper|client\/(lib\/session\/storage-keys\.ts|ui\/(button|page\/brand)\.module\.css)|domain\/routes\.ts/,
    priority: 4,
  },
  {
    name: 'vendor',
    test: /node_modules\/(react|react-dom|scheduler|wouter|regexparam|@supabase\/auth-js)\/|client\/(ui\/(button|page\/brand|toast|lazy-chunk)|lib\/(navigation\.|hooks\/use-title|boot\/use-dismiss-early-page|session\/(session|second-step|token-claims)\.|api\/supabase)|app\/(session\/session-provider|guards|full-screen))|lucide-react\/dist\/esm\/(Icon|createLucideIcon|icons\/(x|circle-))/,
    priority: 3,
  },
  {
    // The forms of the sign-in screens. The journal must become editable without this chunk.
    name: 'forms',
    test: /client\/(ui\/(form\/(field|password-field)|notice|account\/use-welcome-back)|lib\/(hooks\/(use-submit|use-restore-count)|boot\/auth-link|api\/provider-flow)|features\/account\/(account-layout|account\.module|email-field|link\/(use-)?arrived-link|ways\/(ways|passkey-button|sign-in-ways)))|domain\/(messages|account\/(own-account-messages|account))\.ts|icons\/(eye|info)/,
    priority: 3,
  },
  {
    name: 'members',
    test: /node_modules\/(@tanstack\/(react-query|query-core)|@supabase\/postgrest-js)\/|client\/(lib\/(api\/data-client|keys\.|plan\/premium|hooks\/use-today)|ui\/plan\/plan-placeholder|app\/layout\/(members-layout|upgrade-context)|editor\/stored\/(log-text|stored-log)|sync\/(save-status|entries\/entry-dates)|features\/journal\/(journal\.module|day\/save-status-line))|domain\/export\/escape-html|icons\/chevron-/,
    priority: 1,
  },
  {
    // The modules that the early editor shares with the journal (features/journal/early).
    name: 'early',
    test: /client\/(sync\/(day-drafts|store\/tabs)|editor\/stored\/empty-log-html|lib\/(log-html|boot\/today-copy)|features\/journal\/day\/may-take-focus)|domain\/(day\/(day|past-day)\.|log\/entry-html)/,
    priority: 2,
  },
  {
    // The deferred plugins share some of these modules. One chunk of all of them compresses better than two.
    name: 'editor',
    test: /node_modules\/(@tiptap|prosemirror-|orderedmap|rope-sequence|w3c-keyname)|client\/editor\/(split-list|caret|replace-range|create-editor|extensions|empty-log\.|keyboard-exit|serialise|load-deferred-plugins)/,
    priority: 1,
  },
  {
    // Overlays and the screens besides the journal. The journal must become editable without this chunk.
    name: 'sheets',
    test: /client\/ui\/(page\/(page|back-to)|dialog|plan\/crown)|icons\/lock/,
    priority: 2,
  },
];

/** Chunks that `main` imports statically. */
const SHARED = ['rolldown-runtime', 'base', 'vendor'];
/** Chunks that the journal has loaded before it imports another one. */
const JOURNAL = ['members', 'early', 'editor', 'journal-route'];
const PRELOADED = ['main', ...(LAZY_MODULES.journal ?? []).map((module) => parse(module).name)];

export default defineConfig({
  root: 'src/client',
  // The dependency cache of the development server stays out of the source folder.
  cacheDir: '../../node_modules/.vite',
  plugins: [
    react(),
    prerender({
      app: { module: '/features/journal/early/journal-frame.tsx', component: 'JournalFrame' },
      landing: { module: '/features/landing/landing-page.tsx', component: 'LandingPage' },
      terms: { module: '/features/legal/terms-page.tsx', component: 'TermsPage' },
      privacy: { module: '/features/legal/privacy-page.tsx', component: 'PrivacyPage' },
    }),
    bootScript('lib/boot/boot-script.ts', { app: 'features/journal/early/early-editor.ts' }),
    preloadFonts({ app: [SANS], landing: [SANS, SERIF], terms: [SANS, SERIF], privacy: [SANS, SERIF] }),
    linkStyles({
      app: [
        { chunks: ['vendor'], when: null },
        { chunks: ['members', 'journal-route'], when: 'members' },
      ],
    }),
    pageRoutes(),
    cssSideEffects(),
    serviceWorker({
      worker: 'service-worker/service-worker.ts',
      removingWorker: 'service-worker/removing-worker.ts',
      fonts: [SANS],
    }),
    brotliAtBuild(),
  ],
  css: { modules: { generateScopedName: readableClassName } },
  server: {
    port: Number(process.env['VITE_PORT'] ?? 5173),
    strictPort: true,
    proxy: Object.fromEntries(SERVED_BY_SERVER.map((path) => [path, SERVER])),
  },
  build: {
    outDir: '../../dist',
    emptyOutDir: true,
    manifest: true,
    target: 'es2023',
    modulePreload: {
      polyfill: false,
      // The server preloads the journal's chunks. A second link for each of them took a tenth of the journal's start.
      // A link for a chunk that the importing one has loaded is useless, and its name does not compress.
      resolveDependencies: (file, chunks, { hostId, hostType }) => {
        const isOneOf = (names: readonly string[], chunk: string): boolean =>
          names.some(
            (name) => chunk.startsWith(`assets/${name}-`) && chunk.length === `assets/${name}-12345678.js`.length,
          );
        if (hostType !== 'js') return chunks;
        // `members` imports chunks that load late or on an idle page, where one more round trip costs less.
        if (isOneOf(PRELOADED, file) || isOneOf(['members'], hostId)) return [];
        const loaded = isOneOf(JOURNAL, hostId) ? [...SHARED, ...JOURNAL] : isOneOf(['main'], hostId) ? SHARED : [];
        return chunks.filter((chunk) => !isOneOf(loaded, chunk));
      },
    },
    // A font inlined as a data: address would be refused by the content security policy.
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: ['app', 'landing', 'terms', 'privacy'].map((page) =>
        join(import.meta.dirname, 'src', 'client', `${page}.html`),
      ),
      output: { codeSplitting: { groups: CHUNKS } },
    },
  },
});
