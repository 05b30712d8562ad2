/** Fetches what nobody needs for the first key, reading what is pasted and links, as soon as there is an editor. */
import { Extension } from '@tiptap/core';
import type { Editor } from '@tiptap/core';
import { Plugin } from '@tiptap/pm/state';
import { parseInert } from './stored/inert-html.ts';

type Extras = typeof import('./deferred-plugins.ts');

const RETRY_COMPOSING_MS = 200;

let loaded: Extras | null = null;
let loading: Promise<unknown> | null = null;
/** Never rejects: without its extras the editor writes plain words. */
export const loadDeferredPlugins = (): Promise<unknown> =>
  (loading ??= import('./deferred-plugins.ts').then(
    (module) => (loaded = module),
    () => (loading = null),
  ));

/** A change of plugins redraws, and an input method would lose its place. */
function addTo(editor: Editor): void {
  if (editor.isDestroyed) return;
  if (editor.view.composing) setTimeout(() => addTo(editor), RETRY_COMPOSING_MS);
  else for (const plugin of loaded?.createDeferredPlugins() ?? []) editor.registerPlugin(plugin);
}

export const extras = Extension.create({
  name: 'extras',

  addProseMirrorPlugins() {
    if (loaded) return loaded.createDeferredPlugins();
    const { editor } = this;
    void loadDeferredPlugins().then(() => addTo(editor));
    return [
      new Plugin({
        props: {
          handleDOMEvents: {
            /** A paste that comes first waits for its reader. If that cannot be had, the words alone are pasted. */
            paste(view, event) {
              if (loaded || !event.clipboardData) return false;
              const html = event.clipboardData.getData('text/html');
              const text = event.clipboardData.getData('text/plain');
              event.preventDefault();
              void loadDeferredPlugins().then(() => {
                if (view.isDestroyed) return;
                if (loaded && html) view.pasteHTML(html);
                else if (loaded) loaded.pasteText(view, text);
                else view.pasteText(text || parseInert(html).textContent);
              });
              return true;
            },
          },
        },
      }),
    ];
  },
});
