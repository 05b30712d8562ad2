/**
 * `npm run check:audit`: asks the registry for known vulnerabilities of the packages that run in production. Exits with
 * 1 if there are any, and with 2 if the registry did not answer. Not a part of `npm run check`, because its result
 * changes without a change of the program.
 */
import { spawnSync } from 'node:child_process';
import { ROOT } from './project.ts';

type Report = { code: 0 | 1 | 2; text: string };
type Vulnerability = { name: string; severity: string; range: string; fixAvailable: unknown };

if (import.meta.main) {
  const { stdout, error } = spawnSync('npm', ['audit', '--omit=dev', '--workspaces=false', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  });
  const { code, text } = describeAudit(error ? '' : stdout);
  process.stdout.write(`${text}\n`);
  process.exit(code);
}

/** Reads what `npm audit --json` prints (report version 2). */
export function describeAudit(printed: string): Report {
  const report = parse(printed);
  if (report?.vulnerabilities === undefined) {
    const reason = report?.message ?? 'npm printed no report';
    return { code: 2, text: `Not checked: the registry did not answer (${reason}).` };
  }
  const found = Object.values(report.vulnerabilities);
  if (found.length === 0) return { code: 0, text: 'No known vulnerability in the packages of production.' };
  const lines = found.map(
    ({ name, severity, range, fixAvailable }) =>
      `${severity.padEnd(8)} ${name} ${range}${fixAvailable ? '' : ' (no fixed version yet)'}`,
  );
  return { code: 1, text: lines.join('\n') };
}

function parse(text: string): { vulnerabilities?: Record<string, Vulnerability>; message?: string } | null {
  try {
    return JSON.parse(text) as ReturnType<typeof parse>;
  } catch {
    return null;
  }
}
