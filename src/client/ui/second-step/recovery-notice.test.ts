import { expect, test } from 'vitest';
import { recoveryNotice } from './recovery-notice.ts';

test.each([
  [9, /^You used a recovery code\. 9 are left\. If you lost your app or key/, 'Two-step verification'],
  [3, /Only 3 are left/, 'Get new codes'],
  [1, /Only one is left/, 'Get new codes'],
  [0, /your last recovery code.+locks you out/, 'Get new codes'],
])('with %i codes left the notice says so and leads to the profile page', (remaining, text, label) => {
  const notice = recoveryNotice(remaining, true);
  expect(notice.text).toMatch(text);
  expect(notice.link).toEqual({ label, href: '/profile#two-step' });
});

test('a notice over a page that must stay has no link', () => {
  expect(recoveryNotice(9, false)).not.toHaveProperty('link');
});
