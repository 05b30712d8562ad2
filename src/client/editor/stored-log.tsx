/** A log painted from its stored HTML: before the editor has arrived, and where it must not be edited. */
import { createElement, useMemo } from 'react';
import type { ReactNode } from 'react';
import { ENTRY_TAGS, LIST_START } from '#domain/entry-html.ts';
import { EMPTY_LOG_HTML, PLACEHOLDER } from './empty-log-html.ts';
import { parseInert } from './inert-html.ts';
import styles from './log-text.module.css';

const ALLOWED: ReadonlySet<string> = new Set(ENTRY_TAGS);
const TEXT_BLOCKS: ReadonlySet<string> = new Set(['p', 'h1', 'h2', 'h3']);

/**
 * The server cleans what it stores, but the page trusts no server with its DOM: only elements of the list are made, with
 * no attribute but a list's start.
 */
function paint(node: Node, key: number): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) return node.nodeValue;
  if (!(node instanceof Element)) return null;
  const children = [...node.childNodes].map(paint);
  const tag = node.localName;
  if (!ALLOWED.has(tag)) return children;
  if (tag === 'br') return <br key={key} />;
  const start = tag === 'ol' ? (node.getAttribute('start') ?? '') : '';
  // The editor gives an empty line its height with a break, so this does too.
  if (TEXT_BLOCKS.has(tag) && children.length === 0) children.push(<br key="line" />);
  return createElement(tag, { key, ...(LIST_START.test(start) && { start: Number(start) }) }, ...children);
}

type StoredLogProps = {
  html: string;
  label: string;
  /** Asks the question of an empty log; only where it can soon be answered. */
  placeholder?: boolean;
};

export function StoredLog({ html, label, placeholder = false }: StoredLogProps) {
  const content = useMemo(() => [...parseInert(html || EMPTY_LOG_HTML).childNodes].map(paint), [html]);
  const isEmpty = placeholder && (html === '' || html === EMPTY_LOG_HTML);
  return (
    <div className={styles.log} role="group" aria-label={label}>
      {isEmpty ? (
        <ol>
          <li>
            <p data-placeholder={PLACEHOLDER}>
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
