/**
 * The law of pasting (docs/specification/days-and-saving.md 10): what Chromium shows of generated HTML against the text
 * of the editor after a paste.
 */
import fc from 'fast-check';
import type { Page } from '@playwright/test';
import { clipboardHtml } from '../../support/html-arbitraries.ts';
import { editor } from '../support/journal.ts';
import { expect, test } from '../support/test.ts';

const CASES = process.env['TEST_LONG'] ? 100_000 : 300;
const PER_BATCH = 300;
const SEED = Number(process.env['TEST_SEED'] ?? 28);

/** The text that a page without styles of its own shows, with emoji that are pictures. */
const readShown = (page: Page, sources: string[]): Promise<string[]> =>
  page.evaluate(
    (all) =>
      all.map((source) => {
        const parsed = new DOMParser().parseFromString(source, 'text/html');
        document.documentElement.replaceChildren(...parsed.documentElement.childNodes);
        for (const picture of document.querySelectorAll('img[data-shown]'))
          picture.replaceWith(picture.getAttribute('alt')!);
        return document.body.innerText;
      }),
    sources,
  );

type Editor = {
  commands: { setContent: (html: string) => void };
  extensionManager: { baseExtensions: unknown[] };
  options: Record<string, unknown>;
  view: { dom: HTMLElement };
};

/**
 * Replaces the journal by an editor of the same extensions and style without a day: of an edit in the journal, saving
 * and the layout of the page take the most time.
 */
const openBareEditor = (page: Page): Promise<void> =>
  editor(page).evaluate((element) => {
    const { editor: opened } = element as unknown as { editor: Editor };
    const { editorProps } = opened.options;
    const extensions = opened.extensionManager.baseExtensions;
    const place = document.createElement('div');
    document.body.replaceChildren(place);
    const Bare = opened.constructor as new (options: object) => Editor;
    const options = { element: place, extensions, editorProps, injectCSS: false, enableCoreExtensions: false };
    Object.assign(window, { bareEditor: new Bare(options) });
  });

/** The text of the editor after a paste of each source into an empty paragraph. */
const readPasted = (page: Page, sources: string[]): Promise<string[]> =>
  page.evaluate((all) => {
    const { bareEditor } = window as unknown as { bareEditor: Editor };
    const { dom } = bareEditor.view;
    return all.map((source) => {
      bareEditor.commands.setContent('<p></p>');
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/html', source);
      dom.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      return dom.innerText;
    });
  }, sources);

/**
 * Words and the gaps between them: a space, or a break, which in a log may be a separator of cells. Compatibility
 * characters become their plain forms, so that ² is the 2 of the source.
 */
function readGaps(text: string): string {
  const plain = text.normalize('NFKC').replaceAll('−', '-').replaceAll('\uFEFF', '');
  return plain.trim().replace(/\s+/g, (gap) => (/[\n\t]/.test(gap) ? '\n' : ' '));
}

/** Separators of cells as breaks, without the dashes of empty cells. */
const withCellBreaks = (text: string): string =>
  text.replace(/(?:^| · |(?<=·)\s)–(?= · |$)/gm, ' ').replace(/ · |(?<=\s)·(?=\s)/g, '\n');

test('shows every visible letter and break of pasted HTML', async ({ page, signUp }) => {
  test.setTimeout(CASES * 20 + 60_000);
  await signUp(page);
  const source = await page.context().newPage();
  await source.setContent('<!doctype html>');
  await openBareEditor(page);
  // The chunk that converts what is pasted may still load.
  await expect.poll(() => readPasted(page, ['<p>a</p>'])).toEqual(['a']);
  const failures: object[] = [];
  for (let done = 0; done < CASES && failures.length === 0; done += PER_BATCH) {
    const sources = fc.sample(clipboardHtml, { seed: SEED + done, numRuns: Math.min(PER_BATCH, CASES - done) });
    const [shown, pasted] = [await readShown(source, sources), await readPasted(page, sources)];
    for (const [index, html] of sources.entries()) {
      const [from, to] = [readGaps(shown[index]!), readGaps(withCellBreaks(pasted[index]!))];
      if (from !== to) failures.push({ html, shown: from, pasted: to });
    }
  }
  failures.sort((one, other) => JSON.stringify(one).length - JSON.stringify(other).length);
  expect(failures.slice(0, 3)).toEqual([]);
});
