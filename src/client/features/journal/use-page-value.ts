import { useCallback, useSyncExternalStore } from 'react';
import type { JournalEditorHandle } from '#client/editor/create-editor.ts';
import type { DaySaver } from '#client/sync/day-saver/day-saver.ts';

export type PageText = { saver: DaySaver; editor: JournalEditorHandle | null };

/**
 * A value of the page's text, saved or not, at every change of it. The editor reports a change to the saver only after its
 * `transaction` event, so `read` asks the editor first.
 */
export function usePageValue<Value>({ saver, editor: handle }: PageText, read: () => Value): Value {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const stop = saver.subscribe(onChange);
      handle?.editor.on('transaction', onChange);
      return () => {
        stop();
        handle?.editor.off('transaction', onChange);
      };
    },
    [handle, saver],
  );
  return useSyncExternalStore(subscribe, read);
}
