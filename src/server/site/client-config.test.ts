import { expect, test } from 'vitest';
import { readConfig } from '../config.ts';
import { clientConfig } from './client-config.ts';

test('the page knows whether anybody can pay, and for whom that does not hold', () => {
  const settings = {
    PAYPAL_CLIENT_ID: 'client',
    PAYPAL_CLIENT_SECRET: 'hush-hush',
    PAYMENT_BLOCKED_COUNTRIES: 'CU,IR',
  };
  const told = clientConfig(readConfig(settings));
  expect(told).toMatchObject({ features: { payments: true }, paymentBlockedCountries: ['CU', 'IR'] });
  expect(JSON.stringify(told)).not.toMatch(/hush|client"/);
});

test('payments are off as long as nobody has set them up', () => {
  expect(clientConfig(readConfig({}))).toMatchObject({ features: { payments: false }, paymentBlockedCountries: [] });
});

test('the page knows whether there is a coach, and who reads what it is asked about', () => {
  expect(clientConfig(readConfig({}))).toMatchObject({ features: { coach: false }, coachProvider: null });
  const told = clientConfig(readConfig({ AI_PROVIDER: 'google', AI_API_KEY: 'hush-hush' }));
  expect(told).toMatchObject({ features: { coach: true }, coachProvider: 'Google Gemini' });
  expect(JSON.stringify(told)).not.toContain('hush');
});

test('the model of the sandbox is named as what it is, and a real one beside the sandbox by its name', () => {
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
