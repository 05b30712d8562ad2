import { expect, test } from 'vitest';
import { readConfig } from '../config/config.ts';
import { clientConfig } from './pages.ts';

test('exposes whether payments are on and the blocked countries', () => {
  const settings = {
    PAYPAL_CLIENT_ID: 'client',
    PAYPAL_CLIENT_SECRET: 'hush-hush',
    PAYMENT_BLOCKED_COUNTRIES: 'CU,IR',
  };
  const exposed = clientConfig(readConfig(settings));
  expect(exposed).toMatchObject({ features: { payments: true }, paymentBlockedCountries: ['CU', 'IR'] });
  expect(JSON.stringify(exposed)).not.toMatch(/hush|client"/);
});

test('payments are off by default', () => {
  expect(clientConfig(readConfig({}))).toMatchObject({ features: { payments: false }, paymentBlockedCountries: [] });
});

test('exposes whether there is a coach, and the provider that receives the text', () => {
  expect(clientConfig(readConfig({}))).toMatchObject({ features: { coach: false }, coachProvider: null });
  const exposed = clientConfig(readConfig({ AI_PROVIDER: 'google', AI_API_KEY: 'hush-hush' }));
  expect(exposed).toMatchObject({ features: { coach: true }, coachProvider: 'Google Gemini' });
  expect(JSON.stringify(exposed)).not.toContain('hush');
});

test('names the sandbox model as such, and a real model beside the sandbox by its provider', () => {
  const sandbox = { SANDBOX: 'on', SANDBOX_URL: 'http://127.0.0.1:40000' };
  const own = { AI_PROVIDER: 'google', AI_API_KEY: 'key', AI_BASE_URL: 'http://127.0.0.1:40000/ai-model' };
  expect(clientConfig(readConfig({ ...sandbox, ...own }))).toMatchObject({
    sandboxModel: true,
    coachProvider: "the sandbox's own model on this machine",
  });
  const real = { AI_PROVIDER: 'anthropic', AI_API_KEY: 'key', AI_MODEL: 'claude' };
  expect(clientConfig(readConfig({ ...sandbox, ...real }))).toMatchObject({
    sandboxModel: false,
    coachProvider: 'Anthropic Claude',
  });
});
