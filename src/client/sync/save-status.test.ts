import { expect, test } from 'vitest';
import { clockTime } from '#domain/day/clock-time.ts';
import { isAlarming, isAnnounced, keptText, statusText, type SaveStatus } from './save-status.ts';

const NOW = new Date(2026, 10, 21, 14, 2).getTime();
const YESTERDAY = new Date(2026, 10, 20, 9, 5).getTime();

const STATES: [SaveStatus, string, announced: boolean, alarming: boolean][] = [
  [{ kind: 'empty' }, 'Nothing written yet', false, false],
  [{ kind: 'unsaved' }, 'Writing...', false, false],
  [{ kind: 'saving' }, 'Saving...', false, false],
  [{ kind: 'saved', at: NOW }, `Saved ${clockTime(new Date(NOW))}`, true, false],
  [{ kind: 'saved', at: YESTERDAY }, `Saved Nov 20, ${clockTime(new Date(YESTERDAY))}`, true, false],
  [{ kind: 'unconfirmed', seenAt: NOW }, `From this device, as of ${clockTime(new Date(NOW))}`, true, false],
  [
    { kind: 'unconfirmed', seenAt: null },
    'Not loaded – what you write is kept on this device and added to this day',
    true,
    false,
  ],
  [{ kind: 'retrying' }, 'Not saved – retrying', true, true],
  [{ kind: 'offline' }, 'On this device only – sending when online', true, false],
  [{ kind: 'signedOut' }, 'Not saved – sign in to save it', true, true],
  [{ kind: 'conflict' }, 'Not saved – changed elsewhere', true, true],
  [{ kind: 'locked' }, "Not saved – your plan doesn't include this day", true, true],
  [
    { kind: 'refused', reason: 'this log is larger than 256 KB' },
    'Not saved – this log is larger than 256 KB',
    true,
    true,
  ],
];

test.each(STATES)('%o', (status, text, announced, alarming) => {
  expect(statusText(status, NOW)).toBe(text);
  expect(isAnnounced(status)).toBe(announced);
  expect(isAlarming(status)).toBe(alarming);
});

test('the limit of a minute and a refusal say that the text is safe', () => {
  expect(statusText({ kind: 'retrying' }, NOW, true)).toBe(
    'Not saved yet – you have written your limit for this minute',
  );
  const safe = STATES.filter(([status]) => keptText(status, false) !== null);
  expect(safe.map(([{ kind }]) => kind)).toEqual(['refused']);
  expect(keptText({ kind: 'retrying' }, true)).toBe('Your text is safe in this browser and is sent in a minute.');
  expect(keptText({ kind: 'saving' }, true)).toBeNull();
});
