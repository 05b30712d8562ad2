import { expect, test } from 'vitest';
import { ANALYSIS_PROBLEMS } from '../coach/coach.ts';
import { MESSAGES } from '../messages.ts';
import { mentionsSupport, supportHref } from './support.ts';

test('the support address is shown with exactly the messages that say "contact support"', () => {
  const texts: string[] = [...Object.values(MESSAGES), ...Object.values(ANALYSIS_PROBLEMS)];
  expect(texts.filter(mentionsSupport)).toEqual(texts.filter((text) => text.includes('contact support')));
  expect(texts.filter(mentionsSupport)).toHaveLength(3);
});

test('supportHref encodes the subject', () => {
  expect(supportHref('help@example.com', 'payment & plan')).toBe(
    'mailto:help@example.com?subject=Hustle%20Forge%3A%20payment%20%26%20plan',
  );
});
