/** Messages about refreshing the profile. Not in the catalogue, whose size would count towards the journal's first load. */
export const PROFILE_MESSAGES = {
  refreshed: 'Profile refreshed successfully!',
  refreshFailed: 'Failed to refresh profile. Please try again.',
} as const;
