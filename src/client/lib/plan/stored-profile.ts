/**
 * The last read profile row of a user with the premium plan, for a start without the server. The row of a free user is
 * not stored: it would offer an upgrade to a user who has paid since. While the plan is unknown, no upgrade is offered.
 */
import { dayOf } from '#domain/day/day.ts';
import type { Profile } from '#domain/log/entry.ts';
import { isPremium } from '#domain/plan/plan.ts';
import { PROFILE_PREFIX } from '../session/storage-keys.ts';

/** Null without a stored profile, and once its premium plan has ended. */
export function readStoredProfile(userId: string): Profile | null {
  try {
    const profile = JSON.parse(localStorage.getItem(PROFILE_PREFIX + userId)!) as Profile | null;
    return isPremium(profile, dayOf(new Date())) ? profile : null;
  } catch {
    return null;
  }
}

export function storeProfile(profile: Profile, premium: boolean): void {
  const key = PROFILE_PREFIX + profile.id;
  try {
    if (premium) localStorage.setItem(key, JSON.stringify(profile));
    else localStorage.removeItem(key);
  } catch {
    // Best effort: without storage the plan is unknown until the server answers.
  }
}
