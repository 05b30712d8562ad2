import { expect, test } from 'vitest';
import { problemsOf } from '../../../tests/support/config-problems.ts';
import { readConfig } from './config.ts';

test.each([
  'app.example',
  'https://',
  'https://user@app.example/',
  'https://app**.example/',
  'https://app.**.example/',
  'https://203.0.113.5/',
  'https://app.example\\@evil.example/',
  'javascript://app.example/',
])('rejects %j as a redirect address', (pattern) => {
  expect(problemsOf({ AUTH_REDIRECT_URLS: `https://fine.example/**, ${pattern}` })).toEqual([
    expect.stringMatching(/^AUTH_REDIRECT_URLS /),
  ]);
});

test.each([
  'https://**.app.example/**',
  'http://localhost:*/callback',
  'myapp://callback',
  'com.example.app://login/**',
  'http://[::1]:4100/**',
])('accepts %j as a redirect address', (pattern) => {
  expect(readConfig({ AUTH_REDIRECT_URLS: pattern }).auth.redirectPatterns).toMatchObject([
    { protocol: pattern.slice(0, pattern.indexOf(':') + 1) },
  ]);
});

test.each(['ftp://127.0.0.1', 'http://id.example.com', 'https://id.example.com?realm=1'])(
  'rejects %s as the address of a provider, also in development',
  (SMS_API_BASE) => {
    const sms = { SMS_ACCOUNT_SID: 'AC0', SMS_AUTH_TOKEN: 'secret', SMS_FROM: '+15005550006' };
    expect(problemsOf({ ...sms, SMS_API_BASE })).toContainEqual(
      expect.stringContaining('SMS_API_BASE must be an https address'),
    );
  },
);
