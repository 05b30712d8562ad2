/** What the upgrade dialog says for each thing that only a Closer may do (docs/specification/screens.md 12). */
import { FAIR_USE_NOTE } from '../coach/coach.ts';

export type UpgradeFeature =
  | 'historical-logs'
  | 'ai-feedback'
  | 'export'
  | 'font-options'
  | 'trend-analysis'
  | 'default';

type UpgradeOffer = { title: string; description: string; benefits: readonly string[] };

const FEEDBACK = 'Unlimited AI feedback and HustleScore';
const REVIEWS = 'Hustle Reviews: trend analysis';
const ASK_FREELY = 'Ask as often as you like';
const PATTERNS = 'Pattern recognition over 7 and 30 days';
const WITHOUT_NUMBER: ReadonlySet<string> = new Set([FEEDBACK, REVIEWS, ASK_FREELY, PATTERNS]);

/** All that a Closer has (docs/specification/product.md 2). */
const CLOSER_BENEFITS: readonly string[] = [
  'Unlimited history',
  FEEDBACK,
  'Export of all entries',
  'Editor font options',
  REVIEWS,
  'Priority support',
];

/** What a Closer has on this server: nobody shall pay for a coach that it does not have. */
export const closerBenefits = (coach: boolean): readonly string[] =>
  CLOSER_BENEFITS.filter((benefit) => coach || (benefit !== FEEDBACK && benefit !== REVIEWS));

/** What is offered for a thing that was out of reach. A coach that is not there is not offered: then it is all the rest. */
export function upgradeOffer(feature: UpgradeFeature, coach: boolean): UpgradeOffer & { isWhole: boolean } {
  const isMissing = !coach && (feature === 'ai-feedback' || feature === 'trend-analysis');
  const isWhole = isMissing || feature === 'default';
  return isWhole
    ? { ...UPGRADE_OFFERS.default, benefits: closerBenefits(coach), isWhole }
    : { ...UPGRADE_OFFERS[feature], isWhole };
}

/** Stands under benefits that promise analyses without a number. */
export const fairUseNote = (benefits: readonly string[]): string | null =>
  benefits.some((benefit) => WITHOUT_NUMBER.has(benefit)) ? FAIR_USE_NOTE : null;

/** How many own logs the plan keeps closed; null where there is none. */
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
    benefits: ['Sans-serif, serif or monospace', 'Changes at once, on every day', 'Kept in this browser'],
  },
  'trend-analysis': {
    title: 'See the pattern',
    description: 'Hustle Reviews are a premium feature. Upgrade to Closer to access trend analysis.',
    benefits: [PATTERNS, 'Your biggest wins and obstacles', 'Recommendations for what to focus on next'],
  },
  default: {
    title: 'Become a Closer',
    description: 'Everything Hustle Forge has, for people who mean it.',
    benefits: CLOSER_BENEFITS,
  },
};
