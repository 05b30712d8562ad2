/** Loads the code that merges two versions of a log, in a chunk of its own: most pages never need it. */
export type MergeModule = typeof import('#domain/merge/merge-logs.ts');

export type MergeLoader = {
  /** Null until `load` has resolved with the module. */
  loaded: () => MergeModule | null;
  /** Never rejects. Null if the chunk does not load in time; a later call tries again. */
  load: () => Promise<MergeModule | null>;
};

/** A dead connection must not block a save for longer. The save is then tried again with backoff. */
const LOAD_LIMIT_MS = 10_000;

let module: MergeModule | null = null;
let loading: Promise<MergeModule | null> | null = null;

/** Pages also call this when they are idle, so that a later merge needs no connection. */
export const loadMerge = (): Promise<MergeModule | null> =>
  (loading ??= import('#domain/merge/merge-logs.ts').then(
    (loaded) => (module = loaded),
    () => (loading = null),
  ));

export const createMergeLoader = (timers: { after: (ms: number, run: () => void) => () => void }): MergeLoader => ({
  loaded: () => module,
  load: () =>
    new Promise((resolve) => {
      const stop = timers.after(LOAD_LIMIT_MS, () => resolve(null));
      void loadMerge().then((loaded) => {
        stop();
        resolve(loaded);
      });
    }),
});
