import { beforeEach, expect, test, vi } from 'vitest';
import { addDays, dayOf } from '#domain/day/day.ts';
import type { Profile } from '#domain/log/entry.ts';
import { MemoryStorage } from '../../../../tests/support/day-saver-harness.ts';
import { storeProfile, readStoredProfile } from './stored-profile.ts';

const TODAY = dayOf(new Date());
const closer = {
  id: 'ada',
  country: null,
  subscription_plan: 'premium',
  access_valid_until: TODAY,
  ai_consent: true,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
} as Profile;

beforeEach(() => vi.stubGlobal('localStorage', new MemoryStorage()));

test('the row of a premium user is stored for that user, until the last day of the plan', () => {
  storeProfile(closer, true);
  expect(readStoredProfile('ada')).toEqual(closer);
  expect(readStoredProfile('ben')).toBe(null);
  storeProfile({ ...closer, access_valid_until: addDays(TODAY, -1) }, true);
  expect(readStoredProfile('ada')).toBe(null);
});

test('the row of a free user is not stored, and removes an earlier premium row', () => {
  storeProfile(closer, true);
  storeProfile({ ...closer, subscription_plan: 'free' }, false);
  expect(localStorage).toHaveLength(0);
  expect(readStoredProfile('ada')).toBe(null);
});

test('a broken or full storage leaves the plan unknown', () => {
  localStorage.setItem('hustle-forge:profile:ada', '{');
  expect(readStoredProfile('ada')).toBe(null);
  vi.stubGlobal('localStorage', undefined);
  storeProfile(closer, true);
  expect(readStoredProfile('ada')).toBe(null);
});
