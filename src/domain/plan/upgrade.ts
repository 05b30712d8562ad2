/** The texts of the upgrade dialog, per premium feature (docs/specification/screens.md 12). */
import { FAIR_USE_NOTE } from './plan.ts';

export type UpgradeFeature =
  | 'historical-logs'
  | 'ai-feedback'
  | 'export'
  | 'font-options'
  | 'reviews'
  | 'wins'
  | 'default';

type UpgradeOffer = { title: string; description: string; benefits: readonly string[] };

const FEEDBACK = 'Unlimited AI feedback and HustleScore';
const REVIEWS = 'Hustle Reviews: trend analysis';
const ASK_FREELY = 'Ask as often as you like';
const PATTERNS = 'Pattern recognition over a week, a month, a quarter, a year';
const UNLIMITED_BENEFITS: ReadonlySet<string> = new Set([FEEDBACK, REVIEWS, ASK_FREELY, PATTERNS]);

/** The benefits of the premium plan, which the product calls Closer (docs/specification/product.md 2). */
const CLOSER_BENEFITS: readonly string[] = [
  'Unlimited history',
  FEEDBACK,
  'Export of all entries',
  'Editor font options',
  REVIEWS,
  'The document for your yearly review',
  'Priority support',
];

/** Leaves out the coach's benefits on a server without a coach. */
export const closerBenefits = (coach: boolean): readonly string[] =>
  CLOSER_BENEFITS.filter((benefit) => coach || (benefit !== FEEDBACK && benefit !== REVIEWS));

/** The offer for a premium feature. On a server without a coach, the coach's features get the full offer instead. */
export function upgradeOffer(feature: UpgradeFeature, coach: boolean): UpgradeOffer & { isFullOffer: boolean } {
  const isUnavailable = !coach && (feature === 'ai-feedback' || feature === 'reviews');
  const isFullOffer = isUnavailable || feature === 'default';
  return isFullOffer
    ? { ...UPGRADE_OFFERS.default, benefits: closerBenefits(coach), isFullOffer }
    : { ...UPGRADE_OFFERS[feature], isFullOffer };
}

/** The fair-use limit, if one of the benefits promises unlimited analyses; otherwise null. */
export const fairUseNote = (benefits: readonly string[]): string | null =>
  benefits.some((benefit) => UNLIMITED_BENEFITS.has(benefit)) ? FAIR_USE_NOTE : null;

/** `214 of your logs are waiting.`; null for zero. */
export function lockedLogsLabel(count: number): string | null {
  if (count === 0) return null;
  return `${count.toLocaleString('en')} of your logs ${count === 1 ? 'is' : 'are'} waiting.`;
}

export const UPGRADE_OFFERS: Record<UpgradeFeature, UpgradeOffer> = {
  'historical-logs': {
    title: 'Every log you ever wrote',
    description: 'Days older than 30 days are locked. Upgrade to Closer to access historical logs.',
    benefits: ['Every day since your first one', 'Find any word in all of them', 'The whole calendar, no locks'],
  },
  'ai-feedback': {
    title: 'A straight answer about your day',
    description: 'AI feedback is a premium feature. Upgrade to Closer to access intelligent insights.',
    benefits: ['A HustleScore from 1 to 10 for every day', 'Raw feedback that cites what you wrote', ASK_FREELY],
  },
  export: {
    title: 'Take your words with you',
    description: 'Export all entries in one file, whenever you want.',
    benefits: ['All your logs, oldest first', 'Plain text, Markdown, HTML or JSON', 'No limit on how often'],
  },
  'font-options': {
    title: 'Write in your own hand',
    description: 'Choose the font that the editor uses.',
    benefits: ['Sans-serif, serif or monospace', 'Applies to every day at once', 'Saved in this browser'],
  },
  reviews: {
    title: 'See the pattern',
    description: 'Hustle Reviews are a premium feature. Upgrade to Closer to access trend analysis.',
    benefits: [PATTERNS, 'Your biggest wins and obstacles', 'Recommendations for what to focus on next'],
  },
  wins: {
    title: 'Hand in your year',
    description: 'Wins documents are part of the Closer plan: every win with its day, as a page for your manager.',
    benefits: [
      'Pick and order your wins of any period',
      'Print, Word, Markdown',
      'Read-only links that end by themselves',
    ],
  },
  default: {
    title: 'Become a Closer',
    description: 'Everything Hustle Forge has, for people who mean it.',
    benefits: CLOSER_BENEFITS,
  },
};
