/**
 * `npm run bench -- flame`: draws where the CPU time of a process goes that reads and saves days, in docs/flame-graphs.
 * Shares of one process's CPU time depend little on other load.
 */
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#server/free-port.ts';
import { readDay, saveDay } from '../http/journal-requests.ts';
import { load } from '../http/load.ts';
import { signUpPeople } from '../http/people.ts';
import { startProduct } from '../processes.ts';
import { openSeededDatabase, writeYears } from '../seeded-database.ts';
import { createFlameGraph, type CpuProfile } from './flame-graph.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'flame-graphs');
const PEOPLE = 100;
const WARM_UP_SECONDS = 3;
const SECONDS = 15;
const SAMPLING_INTERVAL_US = 250;
const MIN_SHARE = 0.01;

const database = await openSeededDatabase();
const inspectorPort = await freePort();
const app = await startProduct(database, { NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` });
try {
  const people = await signUpPeople(app.url, PEOPLE);
  await writeYears(database.url);
  await mkdir(FOLDER, { recursive: true });
  const inspector = await openInspector(inspectorPort);
  await inspector.send('Profiler.enable');
  await inspector.send('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US });
  for (const [name, make] of [
    ['read', readDay],
    ['save', saveDay],
  ] as const) {
    await load(app.url, people, make, { duration: WARM_UP_SECONDS });
    await inspector.send('Profiler.start');
    const { requests } = await load(app.url, people, make, { duration: SECONDS });
    const { profile } = await inspector.send<{ profile: CpuProfile }>('Profiler.stop');
    const date = new Date().toISOString().slice(0, 10);
    const title = `CPU time of one process: ${requests.total} times ${name} one day, 16 connections, ${date}`;
    const { svg, shares } = createFlameGraph(profile, title);
    await writeFile(join(FOLDER, `${name}.svg`), svg);
    process.stdout.write(`\n${title}\n`);
    for (const { owner, share } of shares.filter((each) => each.share >= MIN_SHARE))
      process.stdout.write(`  ${(share * 100).toFixed(1).padStart(5)} %  ${owner}\n`);
  }
  inspector.close();
} finally {
  await app.stop();
  await database.close();
}

/** Speaks the protocol of V8's inspector (https://chromedevtools.github.io/devtools-protocol/v8/Profiler/). */
async function openInspector(port: number) {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets[0]!.webSocketDebuggerUrl);
  await once(socket, 'open');
  let lastId = 0;
  return {
    send<Result>(method: string, params: object = {}): Promise<Result> {
      const id = (lastId += 1);
      const { promise, resolve } = Promise.withResolvers<Result>();
      socket.addEventListener('message', function receive({ data }) {
        const answer = JSON.parse(String(data)) as { id?: number; result: Result };
        if (answer.id !== id) return;
        socket.removeEventListener('message', receive);
        resolve(answer.result);
      });
      socket.send(JSON.stringify({ id, method, params }));
      return promise;
    },
    close: () => socket.close(),
  };
}
