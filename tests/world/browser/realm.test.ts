import { expect, test } from 'vitest';
import { createRealClock } from '../../cluster/real-clock.ts';
import { installRealms, runInRealm, type Realm } from './realm.ts';

// Node's `fetch` hands its timers an argument, and ends the process without it.
test('a timer passes its arguments on, in a tab and outside of tabs', async () => {
  const restoreGlobals = installRealms();
  const realm = { clock: createRealClock(), isClosed: () => false } as unknown as Realm;
  const start = () => new Promise((resolve) => void setTimeout((...given: string[]) => resolve(given), 0, 'a', 'b'));
  try {
    expect(await start()).toEqual(['a', 'b']);
    expect(await runInRealm(realm, start)).toEqual(['a', 'b']);
  } finally {
    restoreGlobals();
  }
});
