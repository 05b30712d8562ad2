/** A log painted from its stored HTML: before the editor has arrived, and where it must not be edited. */
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
 * The server cleans what it stores, but the page trusts no server with its DOM: only elements of the list are made, with
 * no attribute but a list's start.
 */
function paint(node: Node, key: number, links: StoredLinks | undefined): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) {
    const parts = links?.get(node);
    return parts ? parts.map(({ text, href }) => (href === null ? text : link(text, href))) : node.nodeValue;
  }
  if (!(node instanceof Element)) return null;
  const children = [...node.childNodes].map((child, index) => paint(child, index, links));
  const tag = node.localName;
  if (!ALLOWED.has(tag)) return children;
  if (tag === 'br') return <br key={key} />;
  const start = tag === 'ol' ? (node.getAttribute('start') ?? '') : '';
  // The editor gives an empty line its height with a break, so this does too.
  if (TEXT_BLOCKS.has(tag) && children.length === 0) children.push(<br key="line" />);
  return createElement(tag, { key, ...(LIST_START.test(start) && { start: Number(start) }) }, ...children);
}

/** The `rel` of `#domain/log/links.ts`, which comes later than the first paint. */
const link = (text: string, href: string): ReactNode => (
  <a href={href} target="_blank" rel="noopener noreferrer nofollow">
    {text}
  </a>
);

type FindLinks = typeof import('./stored-links.ts').findStoredLinks;

/** How to find the links, once that has been fetched; a log without addresses does not ask for it. */
function useFindLinks(html: string): FindLinks | undefined {
  const [find, setFind] = useState<FindLinks>();
  const hasAddress = /:\/\/|@/.test(html);
  useEffect(() => {
    if (!hasAddress) return;
    // Without a connection the addresses stay words.
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
  /** What an empty log asks; only where it can soon be answered. */
  placeholder?: string | null;
};

export function StoredLog({ html, label, placeholder = null }: StoredLogProps) {
  const find = useFindLinks(html);
  const content = useMemo(() => {
    const body = parseInert(html || EMPTY_LOG_HTML);
    const links = find?.(body);
    return [...body.childNodes].map((node, index) => paint(node, index, links));
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
