import { expect, test } from 'vitest';
import { securingAdvice } from './securing-advice.ts';

test('advises an account with a password to reset it', () => {
  const { words, page, services } = securingAdvice({ hasPassword: true, services: [] });
  expect(words).toContain('reset your password');
  expect(page).toEqual({ path: '/forgot-password', label: 'Reset your password' });
  expect(services).toBeNull();
});

test('advises an account without a password to sign out other devices', () => {
  const { words, page, services } = securingAdvice({ hasPassword: false, services: ['your Google account'] });
  expect(words).not.toContain('password');
  expect(page.path).toBe('/profile');
  expect(services).toBe('Check your Google account as well, because it can sign you in.');
});

test('names every service that signs the owner in', () => {
  const { services } = securingAdvice({ hasPassword: true, services: ['your Google account', 'your wallet'] });
  expect(services).toBe('Check your Google account and your wallet as well, because they can sign you in.');
});
