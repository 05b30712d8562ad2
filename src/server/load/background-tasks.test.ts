import { expect, test } from 'vitest';
import { createBackgroundTasks } from './background-tasks.ts';
import { createLog } from '#server/log.ts';

const lines: string[] = [];
const log = createLog('debug', { write: (line) => void lines.push(line) });

test('a task starts after the current turn, and closing waits for it', async () => {
  const tasks = createBackgroundTasks(log);
  const events: string[] = [];
  const gate = Promise.withResolvers<void>();
  tasks.run(async () => {
    events.push('started');
    await gate.promise;
    events.push('finished');
  });
  events.push('response');
  const closing = tasks.close().then(() => events.push('closed'));
  await new Promise(setImmediate);
  gate.resolve();
  await closing;
  expect(events).toEqual(['response', 'started', 'finished', 'closed']);
});

test('a failed task is logged and stops no other', async () => {
  const tasks = createBackgroundTasks(log);
  let finished = false;
  tasks.run(() => Promise.reject(new Error('the provider is gone')));
  tasks.run(async () => void (finished = true));
  await tasks.close();
  expect(finished).toBe(true);
  expect(lines.join('')).toContain('the provider is gone');
});

test('a task beyond the limit is dropped with a log line', async () => {
  const tasks = createBackgroundTasks(log);
  let started = 0;
  for (let count = 0; count < 1_001; count += 1) tasks.run(async () => void (started += 1));
  await tasks.close();
  expect(started).toBe(1_000);
  expect(lines.join('')).toContain('background task dropped');
});
