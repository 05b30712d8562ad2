import { expect, test } from 'vitest';
import { ANALYSIS_PROBLEMS } from '../coach/coach.ts';
import { MESSAGES } from '../messages.ts';
import { namesSupport, supportHref } from './support.ts';

test('every text that says "contact support" is followed by the address, and no other text is', () => {
  const texts: string[] = [...Object.values(MESSAGES), ...Object.values(ANALYSIS_PROBLEMS)];
  expect(texts.filter(namesSupport)).toEqual(texts.filter((text) => text.includes('contact support')));
  expect(texts.filter(namesSupport)).toHaveLength(3);
});

test('the subject of a mail to support is encoded', () => {
  expect(supportHref('help@example.com', 'payment & plan')).toBe(
    'mailto:help@example.com?subject=Hustle%20Forge%3A%20payment%20%26%20plan',
  );
});
