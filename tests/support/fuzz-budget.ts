/** Scales run counts and timeouts of randomised tests: ten times as much in `npm run test:long`. */
export const fuzzBudget = (count: number): number => (process.env['TEST_LONG'] ? count * 10 : count);
