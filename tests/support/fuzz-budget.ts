/** For randomised tests: how often they try and how long they may take is ten times as much in `npm run test:long`. */
export const fuzzBudget = (count: number): number => (process.env['TEST_LONG'] ? count * 10 : count);
