/** Holds the place of a paste whose code is still loading: what is typed meanwhile stands behind it. */
import { Plugin, PluginKey, TextSelection, type EditorState, type Transaction } from '@tiptap/pm/state';
import type { EditorView } from '@tiptap/pm/view';

const RETRY_COMPOSING_MS = 200;
/** A paste waits at most this long for its code, then arrives without what is missing, at worst as plain text. */
const MAX_WAIT_MS = 5_000;

/** `paste` is null for the place of the caret, which is kept while a paste arrives elsewhere. */
type Place = { from: number; to: number; paste: (() => void) | null };
/** `places`: oldest first. `isLanding`: the oldest paste arrives, and the other places move behind it. */
type HeldPastes = { places: readonly Place[]; isLanding: boolean };

const key = new PluginKey<HeldPastes>('heldPastes');
const heldIn = (state: EditorState): HeldPastes => key.getState(state)!;

export const heldPastes = (): Plugin =>
  new Plugin<HeldPastes>({
    key,
    state: {
      init: () => ({ places: [], isLanding: false }),
      apply(tr, held) {
        const changed = (tr.getMeta(key) as HeldPastes | undefined) ?? held;
        if (!tr.docChanged) return changed;
        const side = changed.isLanding ? 1 : -1;
        // After a change, a paste replaces nothing: what was selected may be other text now.
        const places = changed.places.map(({ from, paste }) => {
          const at = tr.mapping.map(from, side);
          return { from: at, to: at, paste };
        });
        return { ...changed, places };
      },
    },
    view(view) {
      // In the capture phase, before the journal's own listeners store the draft.
      const landAll = (): void => landHeldPastes(view);
      const onVisibility = (): void => {
        if (document.visibilityState === 'hidden') landAll();
      };
      addEventListener('pagehide', landAll, true);
      addEventListener('visibilitychange', onVisibility, true);
      return {
        destroy() {
          removeEventListener('pagehide', landAll, true);
          removeEventListener('visibilitychange', onVisibility, true);
        },
      };
    },
  });

/** Resolves when no input method composes text, which a redraw would break, or once the editor is destroyed. */
export async function untilComposed(view: EditorView): Promise<void> {
  while (!view.isDestroyed && view.composing) await new Promise((resolve) => setTimeout(resolve, RETRY_COMPOSING_MS));
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Calls `paste` once its code has loaded, or `MAX_WAIT_MS` have passed, and earlier pastes have arrived, with the
 * selection where the caret is now.
 */
export function holdPaste(view: EditorView, code: Promise<unknown>, paste: () => void): void {
  const { from, to } = view.state.selection;
  const { places, isLanding } = heldIn(view.state);
  view.dispatch(view.state.tr.setMeta(key, { places: [...places, { from, to, paste }], isLanding }));
  const isFree = last.catch(() => {});
  const isDue = new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS));
  last = Promise.all([isFree, Promise.race([code, isDue])])
    .then(() => untilComposed(view))
    .then(() => {
      if (!view.isDestroyed && heldIn(view.state).places[0]?.paste === paste) land(view);
    });
}

/** Pastes at once what still waits, without the code that is missing. Call it before the last text is read. */
export function landHeldPastes(view: EditorView): void {
  while (heldIn(view.state).places.length > 0) {
    try {
      land(view);
    } catch (error) {
      reportError(error);
    }
  }
}

/** Pastes at the oldest place. A caret that has left the place stays where it is. */
function land(view: EditorView): void {
  const [place, ...later] = heldIn(view.state).places as [Place, ...Place[]];
  const { from, to, anchor, head } = view.state.selection;
  const hasLeft = from !== place.from || to !== place.to;
  const caret = { from: anchor, to: head, paste: null };
  const start = view.state.tr.setMeta(key, { places: hasLeft ? [caret, ...later] : later, isLanding: true });
  view.dispatch(hasLeft ? select(start, place) : start);
  try {
    place.paste!();
  } finally {
    const places = [...heldIn(view.state).places];
    const left = hasLeft ? places.shift() : null;
    const end = view.state.tr.setMeta(key, { places, isLanding: false });
    view.dispatch(left ? select(end, left) : end);
  }
}

const select = (tr: Transaction, { from, to }: Place): Transaction =>
  tr.setSelection(TextSelection.between(tr.doc.resolve(from), tr.doc.resolve(to)));
