import { expect, test } from 'vitest';
import { describeOffset } from './clock-offset.ts';

test.each([
  [0, 10, 'ok'],
  [3_000, 10, 'warning'],
  [-3_000, 10, 'warning'],
  [3_000, 1_500, 'ok'],
  [40_000, 500, 'fault'],
])('a clock that is %i ms ahead, measured with an error of %i ms: %s', (offsetMs, errorMs, status) => {
  expect(describeOffset('the database', offsetMs, errorMs).status).toBe(status);
});
