/** Loads the editor's chunk as soon as the journal's code runs, in parallel to the day's log. */
import { useCallback, useEffect, useState } from 'react';

type EditorModule = typeof import('#client/editor/journal-editor.tsx');

// Outside of a function, so that the build preloads it with this module (scripts/vite/route-chunks.ts).
const firstLoad = import('#client/editor/journal-editor.tsx');
// Attach a handler now, or a failure before the first `useEditor` is an unhandled rejection.
firstLoad.catch(() => {});
let loadedModule: EditorModule | null = null;
void firstLoad.then((module) => (loadedModule = module)).catch(() => {});

type EditorLoad = { module: EditorModule | null; failed: boolean; retry: () => void };

export function useEditor(): EditorLoad {
  const [module, setModule] = useState(loadedModule);
  const [failed, setFailed] = useState(false);
  const track = useCallback((loading: Promise<EditorModule>) => {
    setFailed(false);
    loading.then(setModule, () => setFailed(true));
  }, []);
  useEffect(() => {
    if (!module) track(firstLoad);
  }, [module, track]);
  return { module, failed, retry: () => track(import('#client/editor/journal-editor.tsx')) };
}
