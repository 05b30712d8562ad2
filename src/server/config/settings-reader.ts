/** Reads and validates settings by type, and collects the problems, mostly with an example of a valid value. */
import { resolve } from 'node:path';
import type { ClientConfig } from '#domain/client-config.ts';
import { isTrustworthyProviderUrl } from './private-network.ts';
import { parseRedirectPattern, type RedirectPattern } from './redirect-patterns.ts';
import { inspect } from 'node:util';

/** A value in quotes, as a shell would need it. */
const QUOTED = /^(["'])(.+)\1$/s;

const ESCAPES = 'in a user or password, write %, @, /, ? and # as %25, %40, %2F, %3F and %23';
export const UNDECODABLE_LOGIN = `has a % that begins no escape: ${ESCAPES}`;

/** Whether the user and the password of an address can be decoded. A bare `%` is not an escape. */
export function hasDecodableLogin({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}

export class SettingsReader {
  readonly problems: string[] = [];
  readonly #env: Readonly<Record<string, string | undefined>>;

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env;
  }

  problem(name: string, message: string, example: string): void {
    this.problems.push(`${name} ${message} (for example ${name}=${example})`);
  }

  /** Null if missing or blank: `NAME=` in an env file means "not set". */
  optional(name: string): string | null {
    const value = this.#env[name]?.trim();
    if (value === undefined || value === '') return null;
    const [, , unquoted] = QUOTED.exec(value) ?? [];
    if (unquoted === undefined) return value;
    const problem = `${name} stands in quotes, which Docker’s env files do not remove: remove them`;
    if (!this.problems.includes(problem)) this.problems.push(problem);
    return unquoted;
  }

  text(name: string, fallback: string): string {
    return this.optional(name) ?? fallback;
  }

  optionalPath(name: string): string | null {
    const path = this.optional(name);
    return path === null ? null : resolve(path);
  }

  list(name: string): string[] {
    return (this.optional(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }

  oneOf<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.optional(name) ?? fallback;
    const choice = choices.find((known) => known === value);
    if (choice !== undefined) return choice;
    this.problem(name, `must be one of ${choices.join(', ')}, not "${value}"`, fallback);
    return fallback;
  }

  onOff(name: string, fallback: boolean): boolean {
    return this.oneOf(name, ['on', 'off'], fallback ? 'on' : 'off') === 'on';
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const value = this.optional(name);
    if (value === null) return fallback;
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= min && number <= max) return number;
    this.problem(name, `must be a whole number from ${min} to ${max}, not "${value}"`, String(fallback));
    return fallback;
  }

  /**
   * The origin of an http(s) address; anything more is a problem. The message does not show the value, which may hold a
   * password. Without a fallback (undefined) the setting is required.
   */
  url(name: string, example: string, fallback: string | null | undefined): string | null {
    const value = this.optional(name);
    if (value === null) {
      if (fallback === undefined) this.problem(name, 'must be set', example);
      return fallback ?? null;
    }
    const url = URL.parse(value);
    if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
    this.problem(name, 'must be an http or https address without a user, path, query or fragment', example);
    return fallback ?? null;
  }

  /** An https address of a provider without its trailing slash. Loopback only in development, where it may also be http. */
  providerUrl(name: string, example: string, fallback: string | null, production: boolean): string | null {
    const value = this.optional(name);
    if (value === null) return fallback;
    const url = URL.parse(value);
    if (url !== null && url.search === '' && url.hash === '' && isTrustworthyProviderUrl(url, production)) {
      return value.replace(/\/$/, '');
    }
    this.problem(name, `must be an https address without a query, not "${value}"`, example);
    return fallback;
  }

  /** A URL with credentials: error messages name the setting but never show its value. */
  secretUrl(name: string, example: string, protocols: readonly string[]): Secret | null {
    const value = this.optional(name);
    if (value === null) return null;
    const url = URL.parse(value);
    if (url && protocols.includes(url.protocol) && url.hostname !== '') {
      if (hasDecodableLogin(url)) return new Secret(value);
      this.problem(name, UNDECODABLE_LOGIN, example);
      return null;
    }
    const beginnings = protocols.map((protocol) => `${protocol}//`).join(' or ');
    this.problem(name, `must be an address that begins with ${beginnings} and names a host; ${ESCAPES}`, example);
    return null;
  }

  /**
   * A key that is sent in a header: error messages never show its value. Threat: fetch rejects an invalid header with
   * an error that quotes it, and errors are logged.
   */
  headerKey(name: string, example: string): Secret | null {
    const value = this.optional(name);
    if (value === null) return null;
    if (/^[\x21-\x7e]+$/.test(value)) return new Secret(value);
    this.problem(name, 'must be one word of plain letters, digits and signs', example);
    return null;
  }

  /** The name of a header, in lower case. An invalid name would make every request that reads it fail. */
  headerName(name: string, example: string): string | null {
    const value = this.optional(name);
    if (value === null || /^[\w!#$%&'*+.^`|~-]+$/.test(value)) return value?.toLowerCase() ?? null;
    this.problem(name, `must be the name of one header, not "${value}"`, example);
    return null;
  }

  redirectPatterns(name: string): RedirectPattern[] {
    return this.list(name).flatMap((item) => {
      const pattern = parseRedirectPattern(item);
      if (pattern === null) {
        const message = `must be a list of addresses such as scheme://host/path with * and **, not "${item}"`;
        this.problem(name, message, 'https://*.example.com/**');
      }
      return pattern ?? [];
    });
  }

  /** The operator's contact details; pages omit unset ones. */
  contact(): ClientConfig['contact'] {
    const email = this.#address('CONTACT_EMAIL');
    const supportEmail = this.#address('SUPPORT_EMAIL');
    const operator = this.optional('OPERATOR_NAME');
    const address = this.optional('OPERATOR_ADDRESS');
    return {
      ...(email !== null && { email }),
      ...(supportEmail !== null && { supportEmail }),
      ...(operator !== null && { operator }),
      ...(address !== null && { address }),
      social: this.list('SOCIAL_LINKS').flatMap((item) => this.#socialLink(item)),
    };
  }

  /** A bare mail address. Threat: it becomes a `mailto:` link, where additional text would inject mail headers. */
  #address(name: string): string | null {
    const value = this.optional(name);
    if (value === null || /^[^\s@?&,<>"]+@[^\s@?&,<>"]+$/.test(value)) return value;
    this.problem(name, `must be a mail address, not "${value}"`, 'support@example.com');
    return null;
  }

  /** A mail address, alone or as `Name <address>`. Without an address, mails would leave without a sender. */
  sender(name: string, fallback: string): string {
    const value = this.text(name, fallback);
    if (/^(?:[^<>]*<[^\s@<>,]+@[^\s@<>,]+>|[^\s@<>,]+@[^\s@<>,]+)$/.test(value)) return value;
    this.problem(
      name,
      `must be a mail address, or a name and <address>, not "${value}"`,
      'Journal <journal@example.com>',
    );
    return fallback;
  }

  #socialLink(item: string): { label: string; url: string }[] {
    const [, label, url] = /^([^=]+)=(https?:\/\/.+)$/.exec(item) ?? [];
    if (label !== undefined && url !== undefined && URL.canParse(url)) return [{ label: label.trim(), url }];
    this.problem('SOCIAL_LINKS', `must be a list of Label=address, not "${item}"`, 'GitHub=https://github.com/example');
    return [];
  }
}

/** A string that cannot leak by accident: logs, JSON and inspection show `[secret]`. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the plain text; call it only where a driver needs it. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}
