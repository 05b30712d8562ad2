/** The chunk that `merge-loader.ts` loads. */
export { mapPosition } from '#domain/merge/merge-logs.ts';
export { mergeLogs } from '#domain/merge/merge-logs.ts';
export { mergeMessage } from '#domain/merge/merge-logs.ts';
