/** The service worker's file. Its bytes change with the pages that it stores, which depend on the server's settings. */
import { etagOf, type BuiltFile, type BuiltFiles } from './built-files.ts';
import { compressFile } from './compress-file.ts';

export const SERVICE_WORKER_PATH = '/service-worker.js';
/** Served in the worker's place with SERVICE_WORKER=off: deletes the worker's caches and unregisters it. */
const REMOVING_WORKER = '/service-worker-off.js';
/** The placeholder in the built worker for the version of the pages. */
const SHELL_VERSION = 'hustle-forge-shell-version';

/** Changes with the `pages` that the worker stores, and so with the files that they name. */
export const shellVersionOf = (pages: readonly (BuiltFile | undefined)[]): string =>
  etagOf(pages.map((page) => page?.etag).join()).slice(3, -1);

/** Returns null without a build. */
export async function serviceWorkerFile(files: BuiltFiles, version: string, isOn: boolean): Promise<BuiltFile | null> {
  const built = files.get(isOn ? SERVICE_WORKER_PATH : REMOVING_WORKER);
  if (!built) return null;
  return compressFile(Buffer.from(built.body).toString('utf8').replaceAll(SHELL_VERSION, version), built.type);
}
