/** The Web Worker that reads the files of an import, so that a file of 60 MB does not freeze the tab. */
import { readJournal } from './read-journal.ts';
import type { ReadRequest } from './read-journal.ts';

addEventListener('message', ({ data }: MessageEvent<ReadRequest>) => {
  void readJournal(data, (message) => postMessage(message));
});
