/** Decides which copies stay on this device. */
import { dayOf, type Day } from '#domain/day/day.ts';
import { isLocked } from '#domain/plan/plan.ts';
import { REVIEW_PERIODS, type ReviewPeriod } from '#domain/plan/review-period.ts';
import type { LocalCopies } from './local-copies.ts';
import type { SeenDay } from './user-database.ts';

/** True for a time in the last 30 days. */
const isRecent = (at: number, today: Day): boolean => !isLocked(dayOf(new Date(at)), false, today);

/** True if the plan opens the day, and the day or the server's last answer about it is in the last 30 days. */
export const shouldKeepLocally = ({ date, seenAt }: SeenDay, premium: boolean, today: Day): boolean =>
  !isLocked(date, premium, today) && (!isLocked(date, false, today) || isRecent(seenAt, today));

/** The key of the copy of a period's last review. */
export const reviewCopyKey = (period: ReviewPeriod): string => `review:${period}`;

/** Threat: the plan ends, and this device still shows what the server now refuses. */
export async function pruneCopies(copies: LocalCopies, premium: boolean, today: Day): Promise<void> {
  await copies.pruneDays((day) => shouldKeepLocally(day, premium, today));
  for (const period of Object.keys(REVIEW_PERIODS) as ReviewPeriod[]) {
    const key = reviewCopyKey(period);
    const review = await copies.readCopy(key);
    if (review && !(premium && isRecent(review.at, today))) await copies.removeCopy(key);
  }
}
