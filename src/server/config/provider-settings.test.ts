import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { PRODUCTION, problemsOf } from '../../../tests/support/config-problems.ts';

const OWN_SERVER = { AI_PROVIDER: 'openai-compatible', AI_MODEL: 'llama' };
const GOOGLE = { AI_PROVIDER: 'google', AI_API_KEY: 'AIza-hush-hush' };

test('the coach is off by default and with AI_PROVIDER=none', () => {
  expect(readConfig({}).coach).toBeNull();
  expect(readConfig({ ...GOOGLE, AI_PROVIDER: 'none' }).coach).toBeNull();
});

test('a provider and a key turn the coach on', () => {
  const { coach } = readConfig({ ...PRODUCTION, ...GOOGLE });
  expect(coach).toMatchObject({
    provider: 'google',
    model: 'gemini-flash-latest',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    structuredBy: 'schema',
    dailyLimit: 100,
    timeoutMs: 60_000,
    providerName: 'Google Gemini',
  });
  expect(coach?.apiKey?.reveal()).toBe('AIza-hush-hush');
  expect(inspect(coach) + JSON.stringify(coach)).not.toContain('hush-hush');
});

test.each([
  ['http://127.0.0.1:40000', 'http://127.0.0.1:40000/v1beta'],
  ['http://127.0.0.1:40000/v1beta/', 'http://127.0.0.1:40000/v1beta'],
])('the name of the provider at AI_BASE_URL=%s is its host', (AI_BASE_URL, baseUrl) => {
  const { coach } = readConfig({ ...GOOGLE, AI_BASE_URL });
  expect(coach).toMatchObject({ baseUrl, providerName: 'the AI service at 127.0.0.1:40000' });
});

test('AI_BASE_URL may be a private model server over http without a key', () => {
  const settings = { ...PRODUCTION, ...OWN_SERVER, AI_BASE_URL: 'http://models:11434/v1' };
  expect(readConfig(settings).coach).toMatchObject({
    baseUrl: 'http://models:11434/v1',
    apiKey: null,
    providerName: 'the AI service at models:11434',
  });
});

test.each([
  'http://localhost:11434/v1',
  'http://models:11434/v1',
  'http://models.internal/v1',
  'http://10.1.2.3/v1',
  'http://172.31.0.9/v1',
  'http://192.168.1.20/v1',
  'http://100.64.0.1/v1',
  'http://[fd00::1]/v1',
  'http://[::ffff:10.0.0.1]/v1',
  'https://models.example.com/v1',
])('accepts AI_BASE_URL=%s', (AI_BASE_URL) => {
  expect(problemsOf({ ...PRODUCTION, ...OWN_SERVER, AI_BASE_URL })).toEqual([]);
});

test.each([
  'http://models.example.com/v1',
  'http://8.8.8.8/v1',
  'http://172.32.0.1/v1',
  'http://10.example.com/v1',
  'http://[2606:4700::1111]/v1',
  'http://[::ffff:8.8.8.8]/v1',
  'http://models.example.com./v1',
])('rejects unencrypted http to a public host: %s', (AI_BASE_URL) => {
  for (const production of [{}, PRODUCTION])
    expect(problemsOf({ ...production, ...OWN_SERVER, AI_BASE_URL })).toEqual([
      expect.stringMatching(/^AI_BASE_URL must begin with https:/),
    ]);
});

test.each([
  ['a key without a provider', { AI_API_KEY: 'AIza-hush-hush' }, ['AI_PROVIDER']],
  ['no key', { AI_PROVIDER: 'google' }, ['AI_API_KEY']],
  ['only a provider', { AI_PROVIDER: 'openai-compatible' }, ['AI_BASE_URL', 'AI_MODEL']],
  ['no model', { ...GOOGLE, AI_PROVIDER: 'anthropic' }, ['AI_MODEL']],
  ['plain http', { ...GOOGLE, AI_BASE_URL: 'http://gemini.example.com' }, ['AI_BASE_URL']],
  ['plain http in production', { ...PRODUCTION, ...GOOGLE, AI_BASE_URL: 'http://127.0.0.1:1' }, ['AI_BASE_URL']],
  ['a key in the address', { ...GOOGLE, AI_BASE_URL: 'https://x.example.com/?key=hush-hush' }, ['AI_BASE_URL']],
  ['a user in the address', { ...GOOGLE, AI_BASE_URL: 'https://hush-hush@x.example.com' }, ['AI_BASE_URL']],
  [
    'a password without a user in the address',
    { ...GOOGLE, AI_BASE_URL: 'https://:hush-hush@x.example.com' },
    ['AI_BASE_URL'],
  ],
  ['a key of two lines', { ...GOOGLE, AI_API_KEY: 'hush-hush\nhush-hush' }, ['AI_API_KEY']],
  ['a key with a blank in it', { ...GOOGLE, AI_API_KEY: 'Bearer hush-hush' }, ['AI_API_KEY']],
  ['a key with a non-ASCII dash', { ...GOOGLE, AI_API_KEY: 'hush-hush–hush' }, ['AI_API_KEY']],
  ['an unknown structured mode', { ...GOOGLE, AI_STRUCTURED: 'xml' }, ['AI_STRUCTURED']],
])('rejects %s', (_what, env, names) => {
  const problems = problemsOf(env);
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual(names);
  expect(problems.join()).not.toContain('hush-hush');
});

const PAYPAL = { PAYPAL_CLIENT_ID: 'client', PAYPAL_CLIENT_SECRET: 'hush-hush' };

test('PayPal is off by default', () => {
  expect(readConfig({}).paypal).toBeNull();
  expect(readConfig({ PAYPAL_API_BASE: 'https://api-m.sandbox.paypal.com' }).paypal).toBeNull();
});

test('credentials alone turn on the live API, without webhooks', () => {
  const { paypal } = readConfig({ ...PRODUCTION, ...PAYPAL });
  expect(paypal).toMatchObject({ apiBase: 'https://api-m.paypal.com', clientId: 'client', webhookId: null });
  expect(paypal?.clientSecret.reveal()).toBe('hush-hush');
  expect(inspect(paypal) + JSON.stringify(paypal)).not.toContain('hush-hush');
});

test.each([
  ['a client without its secret', { PAYPAL_CLIENT_ID: 'client' }, ['PAYPAL_CLIENT_SECRET']],
  ['a secret without its client', { PAYPAL_CLIENT_SECRET: 'hush-hush' }, ['PAYPAL_CLIENT_ID']],
  ['a webhook without credentials', { PAYPAL_WEBHOOK_ID: '8PT597110X' }, ['PAYPAL_CLIENT_ID', 'PAYPAL_CLIENT_SECRET']],
  ['plain http', { ...PAYPAL, PAYPAL_API_BASE: 'http://paypal.example.com' }, ['PAYPAL_API_BASE']],
  ['a path in its address', { ...PAYPAL, PAYPAL_API_BASE: 'https://paypal.example.com/v2' }, ['PAYPAL_API_BASE']],
])('rejects %s', (_what, env, names) => {
  const problems = problemsOf(env);
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual(names);
  expect(problems.join()).not.toContain('hush-hush');
});

const SIMULATOR = { ...PAYPAL, PAYPAL_API_BASE: 'http://127.0.0.1:40000' };

test('PAYPAL_API_BASE may be a simulator on loopback', () => {
  expect(readConfig(SIMULATOR).paypal).toMatchObject({ apiBase: 'http://127.0.0.1:40000' });
});

test('PAYPAL_API_BASE may not be loopback in production', () => {
  expect(problemsOf({ ...PRODUCTION, ...SIMULATOR }).map((problem) => problem.split(' ')[0])).toEqual([
    'PAYPAL_API_BASE',
  ]);
  const https = { ...PRODUCTION, ...PAYPAL, PAYPAL_API_BASE: 'https://localhost:8443' };
  expect(problemsOf(https)).toEqual([expect.stringMatching(/^PAYPAL_API_BASE /)]);
});
