/** Renders a log's stored HTML before the editor has loaded, and where the log is read-only. */
import { createElement, Fragment, useEffect, useMemo, useState, type ReactNode } from 'react';
import { EMPTY_LOG_HTML } from '../../domain/log/entry-html.ts';
import { parseInert, renderStored } from '#client/lib/html-to-log/inert-html.ts';
import styles from './log-text.module.css';
import type { StoredLinks } from './stored-links.ts';

/** Adds `<a>` elements for addresses in the text. */
function renderLog(body: Element, links: StoredLinks | undefined): ReactNode {
  const nodes = renderStored<ReactNode>(body.childNodes, {
    text(node) {
      const parts = links?.get(node);
      if (!parts) return node.nodeValue;
      return list(parts.map(({ text, href }) => (href === null ? text : link(text, href))));
    },
    element: (tag, attributes, children) => createElement(tag, attributes, ...children),
  });
  return list(nodes);
}

/** Children that never change their order need no keys. */
const list = (nodes: readonly ReactNode[]): ReactNode => createElement(Fragment, null, ...nodes);

/** Repeats the `rel` of `#domain/log/links.ts`, which is loaded after the first paint. */
const link = (text: string, href: string): ReactNode => (
  <a href={href} target="_blank" rel="noopener noreferrer nofollow">
    {text}
  </a>
);

type FindLinks = typeof import('./stored-links.ts').findStoredLinks;

/** Loads `findStoredLinks` for a log with addresses; undefined until then. */
function useFindLinks(html: string): FindLinks | undefined {
  const [find, setFind] = useState<FindLinks>();
  const hasAddress = /:\/\/|@/.test(html);
  useEffect(() => {
    if (!hasAddress) return;
    // Without a connection the addresses stay text.
    import('./stored-links.ts').then(
      (module) => setFind(() => module.findStoredLinks),
      () => {},
    );
  }, [hasAddress]);
  return find;
}

/** The box of a log without its text, for the frame of the journal (journal-frame.tsx). */
export const LogFrame = () => <div className={styles.log} role="group" />;

type StoredLogProps = {
  html: string;
  label: string;
  /** The placeholder of an empty log; set only if an editor is about to replace this component. */
  placeholder?: string | null;
};

export function StoredLog({ html, label, placeholder = null }: StoredLogProps) {
  const find = useFindLinks(html);
  const content = useMemo(() => {
    const body = parseInert(html || EMPTY_LOG_HTML);
    return renderLog(body, find?.(body));
  }, [html, find]);
  const isEmpty = placeholder !== null && (html === '' || html === EMPTY_LOG_HTML);
  return (
    <div className={styles.log} role="group" aria-label={label}>
      {isEmpty ? (
        <ol>
          <li>
            <p data-placeholder={placeholder}>
              <br />
            </p>
          </li>
        </ol>
      ) : (
        content
      )}
    </div>
  );
}
