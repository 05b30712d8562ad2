import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { createChangeHistory } from './change-streams.ts';

const changeOf = (userId: string, revision: number) => ({ userId, date: day('2026-11-22'), id: 'row', revision });

function createHistory(maxChanges?: number) {
  const time = { now: 1_000 };
  const history = createChangeHistory(() => time.now, maxChanges);
  history.begin();
  return { time, history, add: (userId: string, revision: number) => history.add(userId, changeOf(userId, revision)) };
}

test("returns the user's changes since an event, and those of its millisecond", () => {
  const { time, history, add } = createHistory();
  add('ada', 1);
  time.now += 5;
  add('ada', 2);
  const id = history.eventId();
  add('ada', 3);
  time.now += 5;
  add('bob', 1);
  add('ada', 4);
  expect(history.changesSince(id, 'ada')?.map(({ revision }) => revision)).toEqual([2, 3, 4]);
  expect(history.changesSince(id, 'bob')).toEqual([changeOf('bob', 1)]);
  expect(history.changesSince(id, 'eve')).toEqual([]);
});

test('returns null for an event of another epoch', () => {
  const { history } = createHistory();
  const id = history.eventId();
  expect(history.changesSince(id, 'ada')).toEqual([]);
  history.begin();
  expect(history.changesSince(id, 'ada')).toBeNull();
  expect(history.changesSince(createHistory().history.eventId(), 'ada')).toBeNull();
});

test('returns null before the first epoch, and for an id in another format or of the future', () => {
  const { history } = createHistory();
  const [epoch] = history.eventId().split('.');
  for (const id of [undefined, '', epoch, `${epoch}.`, `${epoch}.-1`, `${epoch}.1e3`, `${epoch}.99`])
    expect(history.changesSince(id, 'ada')).toBeNull();
  const unbegun = createChangeHistory(() => 0);
  expect(unbegun.changesSince('.0', 'ada')).toBeNull();
  expect(unbegun.changesSince(unbegun.eventId(), 'ada')).toBeNull();
});

test('returns null once a change after the event may have been dropped', () => {
  const { time, history, add } = createHistory(10);
  const first = history.eventId();
  for (let revision = 1; revision <= 10; revision += 1) add('ada', revision);
  expect(history.changesSince(first, 'ada')).toHaveLength(10);
  time.now += 1;
  const later = history.eventId();
  add('ada', 11);
  expect(history.changesSince(first, 'ada')).toBeNull();
  expect(history.changesSince(later, 'ada')).toEqual([changeOf('ada', 11)]);
});

test('returns null after changes of the user that are not known, and not after those of another user', () => {
  const { time, history, add } = createHistory();
  const id = history.eventId();
  history.add('ada', null);
  add('bob', 1);
  expect(history.changesSince(id, 'ada')).toBeNull();
  expect(history.changesSince(id, 'bob')).toEqual([changeOf('bob', 1)]);
  time.now += 1;
  add('ada', 2);
  const later = history.eventId();
  expect(history.changesSince(later, 'ada')).toEqual([changeOf('ada', 2)]);
});
