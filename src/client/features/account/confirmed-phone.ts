import type { User } from '#client/lib/session/session.ts';

/** The number that texted codes sign in with, such as `+15550123456`; null without one. */
export const confirmedPhone = ({ phone, phone_confirmed_at: confirmedAt }: User): string | null =>
  phone && confirmedAt ? `+${phone}` : null;
