/** Renders a log's stored HTML before the editor has loaded, and where the log is read-only. */
import { createElement, useEffect, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { ENTRY_TAGS, LIST_START } from '#domain/log/entry-html.ts';
import { EMPTY_LOG_HTML } from './empty-log-html.ts';
import { parseInert } from './inert-html.ts';
import styles from './log-text.module.css';
import type { StoredLinks } from './stored-links.ts';

const ALLOWED: ReadonlySet<string> = new Set(ENTRY_TAGS);
const TEXT_BLOCKS: ReadonlySet<string> = new Set(['p', 'h1', 'h2', 'h3']);

/**
 * Threat: a compromised or foreign server stores scripts. Although the server cleans logs, this creates only elements
 * of the allow-list, without attributes except a list's `start`, and `<a>` elements for addresses in the text.
 */
function renderNode(node: Node, key: number, links: StoredLinks | undefined): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) {
    const parts = links?.get(node);
    return parts ? parts.map(({ text, href }) => (href === null ? text : link(text, href))) : node.nodeValue;
  }
  if (!(node instanceof Element)) return null;
  const children = [...node.childNodes].map((child, index) => renderNode(child, index, links));
  const tag = node.localName;
  if (!ALLOWED.has(tag)) return children;
  if (tag === 'br') return <br key={key} />;
  const start = tag === 'ol' ? (node.getAttribute('start') ?? '') : '';
  // A break gives an empty line its height, as in the editor.
  if (TEXT_BLOCKS.has(tag) && children.length === 0) children.push(<br key="line" />);
  return createElement(tag, { key, ...(LIST_START.test(start) && { start: Number(start) }) }, ...children);
}

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
    const links = find?.(body);
    return [...body.childNodes].map((node, index) => renderNode(node, index, links));
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
