/** Dead code and unused dependencies. The packages of tests and checks stand in a workspace without code. */
import type { KnipConfig } from 'knip';
import tools from './scripts/setup/tools/package.json' with { type: 'json' };

const config: KnipConfig = {
  workspaces: {
    '.': {
      entry: [
        'tests/cluster/run.ts',
        'tests/world/server/server-program.ts',
        'src/cli/main.ts',
        'src/server/main.ts',
        'src/server/workers/worker.ts',
        'src/server/admin.ts',
        'src/server/backup/{backup,restore}-command.ts',
        'src/server/doctor/doctor-command.ts',
        'src/server/auth/password/password-worker.ts',
        'src/client/app/boot-script.ts',
        'src/client/{app/page-frames.tsx,features/journal/early/early-editor.ts}',
        'src/client/service-worker/{service-worker,removing-worker}.ts',
        'src/client/features/landing/{landing-entry.ts,landing-page.tsx}',
        'src/client/features/legal/{legal-styles.ts,terms-page.tsx,privacy-page.tsx}',
        'scripts/*.{mjs,ts}',
        'benchmarks/**/*.ts',
        'tests/support/product.ts',
        'tests/faults/open-database.ts',
        'scripts/build/{compile-server,icons}.ts',
        'scripts/lifecycle/stop-database.ts',
        'scripts/other-databases/{pooler,postgres15}.ts',
      ],
      project: [
        'src/**/*.{ts,tsx}',
        'scripts/**/*.{mjs,ts}',
        'simulators/**/*.ts',
        'tests/**/*.ts',
        'benchmarks/**/*.ts',
      ],
      vitest: {
        config: [
          'vitest.config.ts',
          'tests/browsers/vitest.config.ts',
          'tests/clients/vitest.config.ts',
          'tests/deploy/vitest.config.ts',
        ],
      },
      playwright: { config: ['playwright.config.ts', 'tests/screenshots/playwright.config.ts'] },
      // Whether a tool is used says lock-file.test.ts.
      ignoreDependencies: [
        /^@fontsource-variable\//,
        ...Object.keys(tools.devDependencies).filter((name) => !name.startsWith('@types/')),
      ],
    },
    'scripts/setup/*': { ignoreDependencies: [/./] },
  },
  ignoreBinaries: ['hustle', 'tasklist', 'prometheus', 'promtool', 'systemd-analyze'],
  rules: { types: 'off' },
};

export default config;
