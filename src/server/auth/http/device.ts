import type { Context } from 'hono';
import type { AppEnv } from '#server/http/app-env.ts';
import { clientAddress } from '#server/http/client-address.ts';
import type { AuthDeps } from './auth-deps.ts';

/** The client of a request; `userAgent` is its header, cut to 500 characters. */
export type Device = { ip: string; userAgent: string | null };

const MAX_USER_AGENT_LENGTH = 500;

export const deviceOf = (context: Context<AppEnv>, { config }: AuthDeps): Device => ({
  ip: clientAddress(context, config.auth),
  userAgent: context.req.header('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
});

// Describes a device in words from its User-Agent header, such as "Chrome on Windows".

type Rule = readonly [pattern: RegExp, name: string];

/** The first match counts: a browser's header also names the browsers that it is compatible with. */
const BROWSERS: readonly Rule[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOPT\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bYaBrowser\//, 'Yandex Browser'],
  [/\bDuckDuckGo\/|\bDdg\//, 'DuckDuckGo'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\/|\bChromium\//, 'Chromium'],
  [/\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'Safari'],
  [/\bsupabase-|^node\b|^undici\b|^Deno\/|^Bun\//, 'an app'],
  [/^curl\//, 'curl'],
];

const SYSTEMS: readonly Rule[] = [
  [/\biPhone\b|\biPod\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b|\bMac OS X\b/, 'Mac'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
];

const UNKNOWN_DEVICE = 'Unknown device';

const firstMatch = (rules: readonly Rule[], text: string): string | null =>
  rules.find(([pattern]) => pattern.test(text))?.[1] ?? null;

/** Threat: a stranger writes the header. The answer has only words of the tables above, and nothing of the header. */
export function describeDevice(userAgent: string | null): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map((rules) => firstMatch(rules, userAgent ?? ''));
  if (browser && system) return `${capitalize(browser)} on ${system}`;
  return capitalize(browser ?? system ?? UNKNOWN_DEVICE);
}

const capitalize = (text: string): string => (text.startsWith('an ') ? `An${text.slice(2)}` : text);
