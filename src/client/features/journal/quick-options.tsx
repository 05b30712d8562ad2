/** Four predefined logs for a past day (docs/specification/screens.md 6). */
import { escapeHtml, EMPTY_LOG_HTML } from '#domain/log/entry-html.ts';
import { QUICK_SAVE_DELAY_MS } from '#domain/log/entry.ts';
import { entryText, isEmptyLog } from '#domain/log/entry-text.ts';
import { QUICK_ENTRIES, matchQuickEntry } from '#domain/log/quick-entries.ts';
import { usePageValue, type PageText } from './use-page-value.ts';
import styles from './quick-options.module.css';

/** A log with one item, as the editor writes it. */
const logOf = (text: string): string => EMPTY_LOG_HTML.replace('<p></p>', () => `<p>${escapeHtml(text)}</p>`);

/** The canned text that a log consists of, `''` for a log without words; null for a log with words of the user. */
const cannedTextOf = (html: string): string | null => (isEmptyLog(html) ? '' : matchQuickEntry(entryText(html)));

/** A longer text is no canned one; the page doesn't serialise a long log at every key. */
const MAX_CANNED_LENGTH = 100;

/** `cannedTextOf` the page's text. */
function useCannedText(page: PageText): string | null {
  const { saver, editor: handle } = page;
  return usePageValue(page, () => {
    if (!handle) return cannedTextOf(saver.text());
    const isLong = handle.editor.state.doc.textContent.trim().length > MAX_CANNED_LENGTH;
    return isLong ? null : cannedTextOf(handle.read());
  });
}

/** Shown while the page has no words or one of the four texts, so that the user can choose another. */
export function QuickOptions({ saver, editor }: PageText) {
  const selected = useCannedText({ saver, editor });
  if (selected === null) return null;
  const choose = (text: string): void =>
    saver.rewrite((current) => (cannedTextOf(current) === null ? null : logOf(text)), QUICK_SAVE_DELAY_MS);
  return (
    <section className={styles.options} aria-labelledby="quick-options">
      <h2 id="quick-options" className={styles.title}>
        Quick options for this day:
      </h2>
      <p className={styles.hint}>You can type your own entry above or select a quick option below</p>
      <ul className={styles.list}>
        {QUICK_ENTRIES.map(({ emoji, text }) => (
          <li key={text}>
            <button
              type="button"
              className={styles.option}
              aria-pressed={text === selected}
              onClick={() => choose(text)}
            >
              <span aria-hidden="true">{emoji}</span> {text}
            </button>
          </li>
        ))}
      </ul>
      <p className={styles.selected} role="status">
        {selected !== '' && `Currently selected: ${selected}`}
      </p>
    </section>
  );
}
