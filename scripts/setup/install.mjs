/**
 * Installs the dependencies if they differ from package-lock.json. Prints npm's output only on failure.
 * Plain JavaScript for Node 18 and newer, because it runs before the dependencies are installed.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';

const NPM_CI = [
  'ci',
  // Overrides NODE_ENV=production and .npmrc: the build and the bundled Node are required.
  '--include=dev',
  '--include=optional',
  '--engine-strict=false',
  // Threat: a compromised dependency runs a script at installation. No dependency needs one; npm 12 blocks them too.
  '--ignore-scripts',
  '--loglevel=error',
  '--no-audit',
  '--no-fund',
];

export async function installIfNeeded(root) {
  const lockText = readFileSync(join(root, 'package-lock.json'));
  const stampFile = join(root, 'node_modules', '.installed');
  const stamp = `${createHash('sha256').update(lockText).digest('hex')} ${process.platform}-${process.arch}\n`;
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  if (!isInstalled(root, JSON.parse(lockText.toString()))) {
    process.stdout.write(
      existsSync(stampFile) ? 'Updating dependencies…\n' : 'Installing dependencies (first run, about a minute)…\n',
    );
    await npmCi(root);
  }
  writeFileSync(stampFile, stamp);
}

/**
 * True if npm's record of the installed packages has every version of the lock file, except optional packages for other
 * platforms. Without this check, every manual `npm install` would be followed by a second install.
 */
function isInstalled(root, lock) {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages ?? {};
  const missing = [];
  for (const [path, wanted] of Object.entries(lock.packages)) {
    if (path === '' || installed[path]?.version === wanted.version) continue;
    if (installed[path] !== undefined || wanted.optional !== true) return false;
    missing.push(wanted);
  }
  const libc = cLibrary();
  return !missing.some((wanted) => matchesPlatform(wanted, libc));
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

function npmCi(root) {
  const [command, ...before] = npmCommand();
  return new Promise((resolve) => {
    const npm = spawn(command, [...before, ...NPM_CI], {
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
