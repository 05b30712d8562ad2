import { expect, test } from 'vitest';
import {
  closerBenefits,
  fairUseNote,
  lockedLogsLabel,
  UPGRADE_OFFERS,
  upgradeOffer,
  type UpgradeFeature,
} from './upgrade.ts';

const FEATURES = Object.keys(UPGRADE_OFFERS) as UpgradeFeature[];
const SOLD_WITH_A_COACH = /\bAI\b|score|feedback|trend|pattern|recommend/i;

test('each premium feature has its own offer', () => {
  for (const feature of FEATURES) expect(upgradeOffer(feature, true)).toMatchObject(UPGRADE_OFFERS[feature]);
});

test('a server without a coach does not offer the coach', () => {
  for (const feature of FEATURES) {
    const { title, description, benefits } = upgradeOffer(feature, false);
    expect([title, description, ...benefits].join('\n')).not.toMatch(SOLD_WITH_A_COACH);
    expect(benefits.length).toBeGreaterThan(2);
  }
  expect(closerBenefits(true).filter((benefit) => !closerBenefits(false).includes(benefit))).toHaveLength(2);
});

test('only offers of unlimited analyses name the fair-use limit', () => {
  const notes = (coach: boolean) =>
    FEATURES.filter((feature) => fairUseNote(upgradeOffer(feature, coach).benefits) !== null);
  expect(notes(true)).toEqual(['ai-feedback', 'reviews', 'default']);
  expect(notes(false)).toEqual([]);
  expect(fairUseNote(closerBenefits(true))).toBe('Fair use: 100 analyses a day.');
  expect(fairUseNote(closerBenefits(false))).toBeNull();
});

test.each([
  [0, null],
  [1, '1 of your logs is waiting.'],
  [214, '214 of your logs are waiting.'],
  [3_650, '3,650 of your logs are waiting.'],
])('the label of %d locked logs is %j', (count, label) => {
  expect(lockedLogsLabel(count)).toBe(label);
});
