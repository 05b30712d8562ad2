/** How the browser's half is built: one app page and three prerendered ones, each with the budget of its kind. */
import react from '@vitejs/plugin-react';
import { basename } from 'node:path';
import { defineConfig } from 'vite';
import { brotliAtBuild } from './scripts/vite/brotli.ts';
import { earlyScript } from './scripts/vite/early-script.ts';
import { pageRoutes } from './scripts/vite/page-routes.ts';
import { preloadFonts } from './scripts/vite/preload-fonts.ts';
import { prerender } from './scripts/vite/prerender.ts';

const SERVER = process.env['DEV_SERVER_URL'] ?? 'http://127.0.0.1:3000';
const SERVED_BY_SERVER = ['/auth', '/rest', '/functions', '/sandbox', '/config.json', '/healthz', '/readyz'];

/** `button-primary`: readable in the page, and the same when a page is prerendered as when its style sheet is built. */
const readableClassName = (name: string, file: string): string => `${basename(file.split('?')[0]!, '.module.css')}-${name}`;

export default defineConfig({
  root: 'src/client',
  // The dependency cache of the development server stays out of the source folder.
  cacheDir: '../../node_modules/.vite',
  plugins: [
    react(),
    prerender({
      landing: { module: '/features/landing/landing-page.tsx', component: 'LandingPage' },
      terms: { module: '/features/legal/terms-page.tsx', component: 'TermsPage' },
      privacy: { module: '/features/legal/privacy-page.tsx', component: 'PrivacyPage' },
    }),
    earlyScript('lib/early.ts'),
    preloadFonts(['instrument-sans-latin-wght-normal', 'newsreader-latin-wght-normal']),
    pageRoutes(),
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
    // A font inlined as a data: address would be refused by the content security policy.
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: ['app', 'landing', 'terms', 'privacy'].map((page) => `src/client/${page}.html`),
    },
  },
});
