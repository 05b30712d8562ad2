/** Renders the coach's text as React elements, never as HTML: see `#domain/coach/coach-text.ts` for the threat. */
import { useMemo } from 'react';
import type { Citation } from '#domain/coach/citations.ts';
import { parseCoachText, type CoachSpan } from '#domain/coach/coach-text.ts';
import { clockTime, relativeTime } from '#domain/day/clock-time.ts';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { useClock } from '#client/lib/hooks/use-clock.ts';
import styles from './coach-panel.module.css';

const NONE: readonly Citation[] = [];

type CoachTextProps = {
  text: string;
  /** The text is still streaming. */
  writing?: boolean;
  /** Called with the line number of a clicked citation; without it citations are plain text. */
  onCitation?: ((line: number) => void) | undefined;
  /** The citations whose line exists. */
  cited?: readonly Citation[];
};

export function CoachText({ text, writing = false, onCitation, cited = NONE }: CoachTextProps) {
  const lines = useMemo(
    () => new Map(onCitation ? cited.map(({ ref, line }) => [ref, line]) : []),
    [cited, onCitation],
  );
  const refs = useMemo(() => new Set(lines.keys()), [lines]);
  const blocks = useMemo(() => parseCoachText(text, { isPartial: writing, refs }), [text, writing, refs]);
  const show = (spans: readonly CoachSpan[]) =>
    spans.map((span, index) => <Span key={index} span={span} onRef={(ref) => onCitation?.(lines.get(ref)!)} />);
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

type SpanProps = { span: CoachSpan; onRef: (ref: string) => void };

function Span({ span, onRef }: SpanProps) {
  switch (span.kind) {
    case 'text':
      return span.text;
    case 'citation': {
      const what = /^\d/.test(span.ref) ? `item ${span.ref}` : 'this line';
      return (
        <button
          type="button"
          className={styles.citation}
          aria-label={`${span.ref}, show ${what} in your log`}
          onClick={() => onRef(span.ref)}
        >
          {span.ref}
        </button>
      );
    }
    case 'strong':
    case 'em': {
      const Tag = span.kind;
      return (
        <Tag>
          {span.spans.map((inner, index) => (
            <Span key={index} span={inner} onRef={onRef} />
          ))}
        </Tag>
      );
    }
  }
}

/**
 * A relative time that updates while the page is open. Updates are not announced to screen readers.
 *
 * `at`: ISO time. The tooltip shows the absolute time. `within`: inside a sentence, so without a capital.
 */
export function TimeAgo({ at, within = false }: { at: string; within?: boolean }) {
  const then = new Date(at);
  const text = useClock(() => relativeTime(then, new Date()));
  return (
    <time dateTime={at} title={`${dateLabel(dayOf(then))}, ${clockTime(then)}`}>
      {within ? text.replace('Just now', 'just now') : text}
    </time>
  );
}
