/** Loads the plugins for pasting and links, the toolbar and the merge's edits in the background once an editor exists. */
import { Extension, type Editor } from '@tiptap/core';
import { Plugin } from '@tiptap/pm/state';
import { parseInert } from '#client/lib/html-to-log/inert-html.ts';

type DeferredPlugins = typeof import('./deferred-plugins.ts');

const RETRY_COMPOSING_MS = 200;

let loaded: DeferredPlugins | null = null;
/** Null until the chunk has loaded. */
export const loadedDeferredPlugins = (): DeferredPlugins | null => loaded;
let loading: Promise<DeferredPlugins | null> | null = null;
/**
 * Null if the load failed: the editor works without these plugins. The next call retries a failed load. The load starts
 * in a later task: starting it costs milliseconds, and the first call comes before the editor is on the page.
 */
export const loadDeferredPlugins = (): Promise<DeferredPlugins | null> =>
  (loading ??= new Promise((resolve) => setTimeout(resolve))
    .then(() => import('./deferred-plugins.ts'))
    .then(
      (module) => (loaded = module),
      () => (loading = null),
    ));

/**
 * Waits for the end of an IME composition: registering a plugin redraws the editor, which would break the composition.
 */
function registerPlugins(editor: Editor): void {
  if (editor.isDestroyed) return;
  if (editor.view.composing) setTimeout(() => registerPlugins(editor), RETRY_COMPOSING_MS);
  else for (const plugin of loaded?.createDeferredPlugins(editor.schema) ?? []) editor.registerPlugin(plugin);
}

export const deferredPlugins = Extension.create({
  name: 'deferredPlugins',

  addProseMirrorPlugins() {
    const { editor } = this;
    if (loaded) return loaded.createDeferredPlugins(editor.schema);
    void loadDeferredPlugins().then(() => registerPlugins(editor));
    return [
      new Plugin({
        props: {
          handleDOMEvents: {
            /** A paste before the plugins have loaded waits for them. If loading fails, plain text is pasted. */
            paste(view, event) {
              if (loaded || !event.clipboardData) return false;
              const html = event.clipboardData.getData('text/html');
              const text = event.clipboardData.getData('text/plain');
              const hasFiles = event.clipboardData.types.includes('Files');
              event.preventDefault();
              void loadDeferredPlugins().then(() => {
                if (view.isDestroyed) return;
                if (loaded) loaded.pasteClipboard(view, { html, text, hasFiles });
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
