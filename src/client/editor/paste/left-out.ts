/** Reports what a paste leaves out of the log to the toolbar, which shows it. The first paste may come before the toolbar. */
import type { EditorView } from '@tiptap/pm/view';

/** `pictures`: beside text that is pasted. `files`: nothing else was pasted. */
export type LeftOut = 'pictures' | 'files';

type Listener = (what: LeftOut) => void;

const listeners = new WeakMap<EditorView, Listener>();
const unheard = new WeakMap<EditorView, LeftOut>();

export function reportLeftOut(view: EditorView, what: LeftOut): void {
  const listener = listeners.get(view);
  if (listener) listener(what);
  else unheard.set(view, what);
}

/** Also hears the last report before. Returns a function that stops listening. */
export function onLeftOut(view: EditorView, listener: Listener): () => void {
  listeners.set(view, listener);
  const missed = unheard.get(view);
  unheard.delete(view);
  if (missed !== undefined) listener(missed);
  return () => void listeners.delete(view);
}
