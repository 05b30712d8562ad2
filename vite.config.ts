/**
 * Builds the client: the app page and three prerendered pages. `npm run check` enforces JavaScript budgets for the app
 * and the landing page (bundle-budget.ts).
 */
import react from '@vitejs/plugin-react';
import { basename, join } from 'node:path';
import { defineConfig } from 'vite';
import { brotliAtBuild } from './scripts/vite/brotli.ts';
import { commandLine } from './scripts/vite/command-line.ts';
import { bootScript, serviceWorker } from './scripts/vite/classic-scripts.ts';
import { cssSideEffects, pageRoutes, preloadFonts, prerender } from './scripts/vite/pages.ts';
import { routeChunks } from './scripts/vite/route-chunks.ts';

/** `Features.DirSelector` of lightningcss, which Vite installs. */
const DIR_SELECTOR = 4;

const CLIENT = join(import.meta.dirname, 'src', 'client');
const SERVER = process.env['DEV_SERVER_URL'] ?? 'http://127.0.0.1:3000';
const SANS = 'instrument-sans-latin-wght-normal';
const SERIF = 'newsreader-latin-wght-normal';
const SERVED_BY_SERVER = ['/auth', '/rest', '/functions', '/sandbox', '/config.json', '/healthz', '/readyz'];

/** Returns a class name such as `button-primary`, the same one for prerendered markup and for the built style sheet. */
const readableClassName = (name: string, file: string): string =>
  `${basename(file.split('?')[0]!, '.module.css')}-${name}`;

const routes = routeChunks(CLIENT, {
  app: 'app.html',
  landing: 'landing.html',
  bootScript: 'app/boot-script.ts',
  router: 'app/router.tsx',
});

export default defineConfig({
  root: 'src/client',
  // The dependency cache of the development server stays out of the source folder.
  cacheDir: '../../node_modules/.vite',
  plugins: [
    react(),
    prerender({
      app: { module: '/app/page-frames.tsx', component: 'PageFrames' },
      landing: { module: '/features/landing/landing-page.tsx', component: 'LandingPage' },
      terms: { module: '/features/legal/terms-page.tsx', component: 'TermsPage' },
      privacy: { module: '/features/legal/privacy-page.tsx', component: 'PrivacyPage' },
    }),
    bootScript('app/boot-script.ts'),
    routes.plugin,
    preloadFonts({ app: [SANS], landing: [SANS, SERIF], terms: [SANS, SERIF], privacy: [SANS, SERIF] }),
    pageRoutes(),
    cssSideEffects(),
    serviceWorker({
      worker: 'service-worker/service-worker.ts',
      removingWorker: 'service-worker/removing-worker.ts',
      fonts: [SANS, SERIF],
    }),
    commandLine('src/cli/main.ts'),
    brotliAtBuild(),
  ],
  // Modules, so that the import's worker loads the zip library only for a zip.
  worker: { format: 'es' },
  css: {
    modules: { generateScopedName: readableClassName },
    // Would replace `:dir()` by a list of languages, which says nothing about the direction of a text.
    lightningcss: { exclude: DIR_SELECTOR },
  },
  server: {
    port: Number(process.env['VITE_PORT'] ?? 5173),
    strictPort: true,
    proxy: Object.fromEntries(SERVED_BY_SERVER.map((path) => [path, SERVER])),
  },
  build: {
    outDir: '../../dist',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: {
      polyfill: false,
      // The server preloads the scripts of a screen, and an idle page prefetches the others (`lazy-chunk.ts`). So only the
      // chunk itself is loaded beside its style sheets, and the editor beside the journal, not a round trip later.
      resolveDependencies: (file, chunks) => chunks.filter((chunk) => chunk === file || /\.css$|\/editor-/.test(chunk)),
    },
    // A font inlined as a data: address would be refused by the content security policy.
    assetsInlineLimit: 0,
    rolldownOptions: {
      preserveEntrySignatures: 'allow-extension',
      input: ['app', 'landing', 'terms', 'privacy'].map((page) => join(CLIENT, `${page}.html`)),
      output: {
        codeSplitting: {
          groups: [{ name: routes.chunkName, debugName: 'shared', includeDependenciesRecursively: false }],
        },
      },
    },
  },
});
