/**
 * Installs the dependencies if they differ from package-lock.json. Prints npm's output only on failure.
 * Plain JavaScript for Node 18 and newer, because it runs before the dependencies are installed.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';

const NPM_CI = [
  'ci',
  // Overrides NODE_ENV=production and .npmrc: the build is required.
  '--include=dev',
  '--include=optional',
  '--engine-strict=false',
  // Threat: a compromised dependency runs a script at installation. No dependency needs one; npm 12 blocks them too.
  '--ignore-scripts',
  '--loglevel=error',
  '--no-audit',
  '--no-fund',
];
/** Files that no running program reads: source maps, types, and the headers of Node. A quarter of what npm writes. */
const UNREAD_FILE = /\.(?:map|d\.[cm]?ts)$/;
const NODE_HEADERS = /^node-[^/]+$/;
/** In the stamp of an installation whose unread files were removed. */
const PRUNED = 'pruned';

/**
 * @param extras which workspaces below this folder are needed beside the product: `tools` for tests and checks, and
 *   `node`,
 *   the bundled Node
 */
export async function installIfNeeded(root, extras) {
  const lockText = readFileSync(join(root, 'package-lock.json'));
  const stampFile = join(root, 'node_modules', '.installed');
  const version = `${createHash('sha256').update(lockText).digest('hex')} ${process.platform}-${process.arch}`;
  const [installedVersion, ...installed] = existsSync(stampFile)
    ? readFileSync(stampFile, 'utf8').trim().split('\n')
    : [];
  if (installedVersion === version && extras.every((extra) => installed.includes(extra))) return;
  const wanted = [...new Set([...extras, ...installed])].filter((name) => name !== PRUNED).sort();
  const stamp = (parts) => writeFileSync(stampFile, [version, ...parts, ''].join('\n'));
  // npm's record does not tell that files were removed, which a type check reads.
  if (!installed.includes(PRUNED) && isInstalled(root, JSON.parse(lockText.toString()), wanted))
    return stamp([...new Set(['tools', ...wanted])]);
  process.stdout.write(
    installedVersion ? 'Updating dependencies…\n' : 'Installing dependencies (first run, about a minute)…\n',
  );
  await npmCi(root, wanted);
  const isForTools = wanted.includes('tools');
  if (!isForTools) removeUnread(join(root, 'node_modules'));
  stamp(isForTools ? wanted : [...wanted, PRUNED]);
}

/**
 * True if npm's record of the installed packages has every version of the lock file, except optional packages for other
 * platforms and a Node that is not wanted. Without this check, every manual `npm install` would be followed by a second
 * one.
 */
function isInstalled(root, lock, wanted) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages ?? {};
  const bundledNodes = wanted.includes('node') ? {} : (lock.packages['scripts/setup/node']?.optionalDependencies ?? {});
  const missing = [];
  for (const [path, locked] of Object.entries(lock.packages)) {
    const isOurs = !path.startsWith('node_modules/') || locked.link === true;
    if (isOurs || installed[path]?.version === locked.version) continue;
    if (path.slice('node_modules/'.length) in bundledNodes) continue;
    if (installed[path] !== undefined || locked.optional !== true) return false;
    missing.push(locked);
  }
  const libc = cLibrary();
  return !missing.some((locked) => matchesPlatform(locked, libc));
}

function removeUnread(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isFile() && UNREAD_FILE.test(entry.name)) rmSync(path);
    else if (entry.isDirectory()) {
      if (NODE_HEADERS.test(entry.name)) rmSync(join(path, 'include'), { recursive: true, force: true });
      removeUnread(path);
    }
  }
}

const allows = (list, value) =>
  !list || list.includes(value) || (list[0]?.startsWith('!') && !list.includes(`!${value}`));

/** npm skips an optional package that is built for another platform. */
const matchesPlatform = ({ os, cpu, libc }, ourLibc) =>
  Boolean(os || cpu) && allows(os, process.platform) && allows(cpu, process.arch) && allows(libc, ourLibc);

function cLibrary() {
  if (process.platform !== 'linux') return 'none';
  // Without this setting the report resolves the host name of every open connection's peer.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
}

/** The arguments with which npm installs the product and these of its workspaces. */
const choose = (workspaces) =>
  workspaces.length === 0
    ? ['--workspaces=false']
    : ['--include-workspace-root', ...workspaces.map((name) => `--workspace=scripts/setup/${name}`)];

function npmCi(root, workspaces) {
  const [command, ...before] = npmCommand();
  return new Promise((resolve) => {
    const npm = spawn(command, [...before, ...NPM_CI, ...choose(workspaces)], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32' && command === 'npm',
    });
    const output = [];
    npm.stdout.on('data', (chunk) => output.push(chunk));
    npm.stderr.on('data', (chunk) => output.push(chunk));
    const stop = () => npm.kill('SIGTERM');
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, stop);
    const fail = (reason) => {
      process.stderr.write(`${Buffer.concat(output).toString()}\nInstalling the dependencies failed (${reason}).\n`);
      process.exit(1);
    };
    npm.on('error', (error) => fail(error.message));
    npm.on('close', (code, signal) => {
      for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.off(name, stop);
      if (code !== 0) fail(signal ?? `npm exited with ${code}`);
      resolve();
    });
  });
}

/** Prefers the npm that runs this script, then the npm bundled with this Node, then the npm on the PATH. */
function npmCommand() {
  const bin = dirname(process.execPath);
  const current = process.env.npm_execpath;
  const candidates = [
    current && /^npm(-cli)?\.c?js$/.test(basename(current)) ? current : '',
    join(bin, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(bin, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ];
  const script = candidates.find((path) => path !== '' && existsSync(path));
  return script ? [process.execPath, script] : ['npm'];
}
