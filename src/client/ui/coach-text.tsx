/** What the coach wrote, as React elements and nothing else: see `#domain/coach-text.ts` for the threat. */
import { useMemo } from 'react';
import { coachBlocks } from '#domain/coach-text.ts';
import type { CoachSpan } from '#domain/coach-text.ts';
import styles from './coach-text.module.css';

type CoachTextProps = {
  text: string;
  /** More is to come. */
  writing?: boolean;
  /** Shows an item of the log; without it the numbers are plain text. */
  onItem?: ((item: number) => void) | undefined;
  /** The items that can be shown. */
  items?: readonly number[];
};

export function CoachText({ text, writing = false, onItem, items = [] }: CoachTextProps) {
  const blocks = useMemo(() => coachBlocks(text, { writing }), [text, writing]);
  const show = (spans: readonly CoachSpan[]) =>
    spans.map((span, index) => <Span key={index} span={span} items={onItem ? items : []} onItem={onItem} />);
  return (
    <div className={styles.text} dir="auto">
      {blocks.map((block, index) => {
        if (block.kind === 'paragraph') return <p key={index}>{show(block.spans)}</p>;
        const List = block.kind === 'list' ? 'ul' : 'ol';
        return (
          <List key={index}>
            {block.items.map((spans, item) => (
              <li key={item}>{show(spans)}</li>
            ))}
          </List>
        );
      })}
    </div>
  );
}

type SpanProps = { span: CoachSpan; items: readonly number[]; onItem: CoachTextProps['onItem'] };

function Span({ span, items, onItem }: SpanProps) {
  switch (span.kind) {
    case 'text':
      return span.text;
    case 'item':
      if (!items.includes(span.item)) return span.text;
      return (
        <button
          type="button"
          className={styles.item}
          aria-label={`${span.item}, show item ${span.item} in your log`}
          onClick={() => onItem?.(span.item)}
        >
          {span.item}
        </button>
      );
    case 'strong':
    case 'em': {
      const Tag = span.kind;
      return (
        <Tag>
          {span.spans.map((inner, index) => (
            <Span key={index} span={inner} items={items} onItem={onItem} />
          ))}
        </Tag>
      );
    }
  }
}
