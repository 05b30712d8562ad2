/** The Web Worker that reads the files of an import, so that a file of 60 MB does not freeze the tab. */
import { readJournal, type ReadMessage, type ReadRequest, type WorkerRequest } from './read-journal.ts';

const post = (message: ReadMessage): void => postMessage(message);
const chosen: ReadRequest['chosen'] = [];

addEventListener('message', ({ data }: MessageEvent<WorkerRequest>) => {
  if ('chosen' in data) chosen.push(...data.chosen);
  else void readJournal({ chosen, zone: data.zone }, post);
});
post({ kind: 'ready' });
