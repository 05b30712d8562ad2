import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { PRODUCTION, problemsOf } from '../../../../tests/support/config-problems.ts';
import { readConfig } from '../../config/config.ts';

const PAYPAL = { PAYPAL_CLIENT_ID: 'client', PAYPAL_CLIENT_SECRET: 'hush-hush' };

test('PayPal is off by default', () => {
  expect(readConfig({}).paypal).toBeNull();
  expect(readConfig({ PAYPAL_API_BASE: 'https://api-m.sandbox.paypal.com' }).paypal).toBeNull();
});

test('credentials alone turn on the live API, without webhooks', () => {
  const { paypal } = readConfig({ ...PRODUCTION, ...PAYPAL });
  expect(paypal).toMatchObject({
    apiBase: 'https://api-m.paypal.com',
    clientId: 'client',
    webhookId: null,
  });
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

const SIMULATOR = {
  ...PAYPAL,
  PAYPAL_API_BASE: 'http://127.0.0.1:40000',
};

test('PAYPAL_API_BASE may be a simulator on loopback', () => {
  expect(readConfig(SIMULATOR).paypal).toMatchObject({
    apiBase: 'http://127.0.0.1:40000',
  });
});

test('PAYPAL_API_BASE may not be loopback in production', () => {
  expect(problemsOf({ ...PRODUCTION, ...SIMULATOR }).map((problem) => problem.split(' ')[0])).toEqual([
    'PAYPAL_API_BASE',
  ]);
  const https = { ...PRODUCTION, ...PAYPAL, PAYPAL_API_BASE: 'https://localhost:8443' };
  expect(problemsOf(https)).toEqual([expect.stringMatching(/^PAYPAL_API_BASE /)]);
});
