/** Prints the results, without any secret of the settings. */
import { Secret } from '../config/secret.ts';
import { worstOf, type Result, type Status } from './check.ts';

export const EXIT_CODES: Readonly<Record<Status, number>> = { off: 0, ok: 0, warning: 1, fault: 2 };

const NAME_COLUMN = 13;
const STATUS_COLUMN = 9;

export const worstResult = (results: readonly Result[]): Status => worstOf(results.flatMap(({ findings }) => findings));

export function formatText(results: readonly Result[]): string {
  const indent = ' '.repeat(STATUS_COLUMN + NAME_COLUMN);
  const lines = results.flatMap(({ name, findings }) =>
    findings.flatMap(({ status, text, fix }) => [
      `${status.padEnd(STATUS_COLUMN)}${name.padEnd(NAME_COLUMN)}${text}`,
      ...(fix === undefined ? [] : [`${indent}-> ${fix}`]),
    ]),
  );
  const count = (wanted: Status): string => {
    const { length } = results.flatMap(({ findings }) => findings).filter(({ status }) => status === wanted);
    return `${length} ${wanted}${length === 1 ? '' : 's'}`;
  };
  return [...lines, '', `${count('fault')}, ${count('warning')}`].join('\n');
}

export const formatJson = (results: readonly Result[]): string =>
  JSON.stringify({ status: worstResult(results), checks: results }, null, 2);

/**
 * Returns a function that replaces the secrets of the settings in a text. Threat: an error of a library quotes an address
 * with its password, and reports are pasted into tickets.
 */
export function createRedactor(settings: object): (text: string) => string {
  const secrets = new Set<string>();
  collect(settings, secrets);
  const ordered = [...secrets].filter(({ length }) => length >= 4).toSorted((one, other) => other.length - one.length);
  return (text) => ordered.reduce((redacted, secret) => redacted.replaceAll(secret, '[secret]'), text);
}

function collect(value: unknown, secrets: Set<string>): void {
  if (value instanceof Secret) {
    const text = value.reveal();
    secrets.add(text);
    const url = URL.parse(text.replace('@/', '@localhost/'));
    if (url !== null && url.password !== '') {
      secrets.add(url.password);
      secrets.add(decodeURIComponent(url.password));
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) collect(part, secrets);
  }
}
