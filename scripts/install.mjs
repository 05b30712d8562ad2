/**
 * Installs the dependencies when what is installed is not what package-lock.json names. Quiet unless it fails.
 * Plain JavaScript for any Node from 18 on, because it runs before anything is installed.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';

const NPM_CI = [
  'ci',
  // Also where NODE_ENV=production or an .npmrc says otherwise: the build and the bundled Node are needed here.
  '--include=dev',
  '--include=optional',
  '--engine-strict=false',
  // Nothing here needs install scripts, and npm 12 blocks them anyway.
  '--ignore-scripts',
  '--loglevel=error',
  '--no-audit',
  '--no-fund',
];

export async function installWhenNeeded(root) {
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

/** Somebody may have installed by hand: npm writes down what it put there, and that is compared with the lock file. */
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
  return !missing.some((wanted) => fitsThisMachine(wanted, libc));
}

const allows = (list, value) =>
  !list || list.includes(value) || (list[0]?.startsWith('!') && !list.includes(`!${value}`));

/** An optional package is left out where it is for another kind of machine. */
const fitsThisMachine = ({ os, cpu, libc }, ourLibc) =>
  Boolean(os || cpu) && allows(os, process.platform) && allows(cpu, process.arch) && allows(libc, ourLibc);

function cLibrary() {
  if (process.platform !== 'linux') return 'none';
  // Without this the report looks up the name of every open connection's other end.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
}

function npmCi(root) {
  const [command, ...before] = npmCommand();
  return new Promise((done) => {
    const npm = spawn(command, [...before, ...NPM_CI], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32' && command === 'npm',
    });
    const output = [];
    npm.stdout.on('data', (part) => output.push(part));
    npm.stderr.on('data', (part) => output.push(part));
    const stop = () => npm.kill('SIGTERM');
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, stop);
    const failed = (why) => {
      process.stderr.write(`${Buffer.concat(output).toString()}\nInstalling the dependencies failed (${why}).\n`);
      process.exit(1);
    };
    npm.on('error', (error) => failed(error.message));
    npm.on('close', (code, signal) => {
      for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.off(name, stop);
      if (code !== 0) failed(signal ?? `npm ended with ${code}`);
      done();
    });
  });
}

/** npm tells its scripts where it is; without it, the npm beside this Node; else whichever is on the path. */
function npmCommand() {
  const bin = dirname(process.execPath);
  const told = process.env.npm_execpath;
  const places = [
    told && /^npm(-cli)?\.c?js$/.test(basename(told)) ? told : '',
    join(bin, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(bin, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ];
  const script = places.find((place) => place !== '' && existsSync(place));
  return script ? [process.execPath, script] : ['npm'];
}
