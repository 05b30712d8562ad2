/** Loads the editor's chunk, which starts as soon as the journal's code runs, beside the day itself. */
import { useCallback, useEffect, useState } from 'react';

type EditorModule = typeof import('#client/editor/journal-editor.tsx');

const load = (): Promise<EditorModule> => import('#client/editor/journal-editor.tsx');
const early = load();
// Whoever waits for it hears of the failure; until somebody does, it is no unhandled one.
early.catch(() => {});
let arrived: EditorModule | null = null;
void early.then((module) => (arrived = module)).catch(() => {});

export type EditorLoad = { module: EditorModule | null; failed: boolean; retry: () => void };

export function useEditor(): EditorLoad {
  const [module, setModule] = useState(arrived);
  const [failed, setFailed] = useState(false);
  const wait = useCallback((loading: Promise<EditorModule>) => {
    setFailed(false);
    loading.then(setModule, () => setFailed(true));
  }, []);
  useEffect(() => {
    if (!module) wait(early);
  }, [module, wait]);
  return { module, failed, retry: () => wait(load()) };
}
