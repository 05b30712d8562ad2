import { expect, test } from 'vitest';
import { createScrapes, type ToWorker } from './supervisor.ts';

function simulate({ alive = [11, 12], answerLimitMs = 60_000 } = {}) {
  const sentMessages: [number, ToWorker][] = [];
  const answered = Promise.withResolvers<ToWorker>();
  const scrapes = createScrapes({
    sendMessage(worker, message) {
      if (!alive.includes(worker)) return false;
      sentMessages.push([worker, message]);
      if (message.type === 'metrics of all') answered.resolve(message);
      return true;
    },
    listServing: () => [
      { worker: 12, slot: 2 },
      { worker: 11, slot: 1 },
    ],
    answerLimitMs,
  });
  return { scrapes, sentMessages, answered: answered.promise };
}

test('answers the asking worker once every worker has described itself, in the order of their slots', async () => {
  const { scrapes, sentMessages, answered } = simulate();
  scrapes.receive(11, { type: 'scrape', scrape: 7 });
  expect(sentMessages).toEqual([
    [12, { type: 'describe metrics', scrape: 1 }],
    [11, { type: 'describe metrics', scrape: 1 }],
  ]);
  scrapes.receive(12, { type: 'metrics', scrape: 1, metrics: [] });
  // A second answer, and an answer to an unknown scrape, are ignored.
  scrapes.receive(12, { type: 'metrics', scrape: 1, metrics: [] });
  scrapes.receive(11, { type: 'metrics', scrape: 99, metrics: [] });
  expect(sentMessages).toHaveLength(2);
  scrapes.receive(11, { type: 'metrics', scrape: 1, metrics: [] });
  expect(await answered).toEqual({
    type: 'metrics of all',
    scrape: 7,
    workers: [
      { slot: 1, metrics: [] },
      { slot: 2, metrics: [] },
    ],
  });
});

test('leaves out a worker that has ended or does not answer in time', async () => {
  const ended = simulate({ alive: [11] });
  ended.scrapes.receive(11, { type: 'scrape', scrape: 1 });
  ended.scrapes.receive(11, { type: 'metrics', scrape: 1, metrics: [] });
  expect(await ended.answered).toMatchObject({ workers: [{ slot: 1 }] });

  const slow = simulate({ answerLimitMs: 1 });
  slow.scrapes.receive(11, { type: 'scrape', scrape: 1 });
  slow.scrapes.receive(11, { type: 'metrics', scrape: 1, metrics: [] });
  expect(await slow.answered).toMatchObject({ workers: [{ slot: 1 }] });
});
