/** Messages about refreshing the profile. Not in `domain/messages.ts`, to keep the journal's first load small. */
export const PROFILE_MESSAGES = {
  refreshed: 'Profile refreshed successfully!',
  refreshFailed: 'Failed to refresh profile. Please try again.',
} as const;
