/** Once an editor exists, loads what its first key does not need: plugins, the toolbar and `replaceBlocks`. */
import { Extension, type Editor } from '@tiptap/core';
import { Plugin } from '@tiptap/pm/state';
import { parseInert } from '#client/lib/html-to-log/inert-html.ts';
import { heldPastes, holdPaste, untilComposed } from './held-pastes.ts';

type DeferredPlugins = typeof import('./deferred-plugins.ts');

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

/** Registering a plugin redraws the editor, so it waits for the end of a composition. */
async function registerPlugins(editor: Editor): Promise<void> {
  if (editor.isDestroyed) return;
  await untilComposed(editor.view);
  if (!editor.isDestroyed)
    for (const plugin of loaded?.createDeferredPlugins(editor.schema) ?? []) editor.registerPlugin(plugin);
}

export const deferredPlugins = Extension.create({
  name: 'deferredPlugins',

  addProseMirrorPlugins() {
    const { editor } = this;
    if (loaded) return [heldPastes(), ...loaded.createDeferredPlugins(editor.schema)];
    void loadDeferredPlugins().then(() => registerPlugins(editor));
    return [
      heldPastes(),
      new Plugin({
        props: {
          handleDOMEvents: {
            /** A paste before the plugins have loaded waits for them. If they fail or are late, pastes plain text. */
            paste(view, event) {
              if (loaded || !event.clipboardData) return false;
              const html = event.clipboardData.getData('text/html');
              const text = event.clipboardData.getData('text/plain');
              const hasFiles = event.clipboardData.types.includes('Files');
              event.preventDefault();
              const isReady = loadDeferredPlugins().then((plugins) => plugins?.loadParserFor(text));
              holdPaste(view, isReady, () => {
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
