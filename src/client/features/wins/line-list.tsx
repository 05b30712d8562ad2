/**
 * The lines of a document, with their own wording and order. They move by dragging, with Alt and the arrow keys as the
 * items of a log do, and on a touch screen with buttons.
 */
import { memo, useRef, useState, type KeyboardEvent, type FocusEvent } from 'react';
import ArrowDown from 'lucide-react/icons/arrow-down';
import ArrowUp from 'lucide-react/icons/arrow-up';
import GripVertical from 'lucide-react/icons/grip-vertical';
import X from 'lucide-react/icons/x';
import { dateLabel } from '#domain/day/day.ts';
import {
  LINE_MAX_LENGTH,
  lineDate,
  type DocumentLine,
  type WinsDocument,
  type WinLine,
} from '#domain/documents/wins-document.ts';
import { dayPath } from '#domain/routes.ts';
import { Link } from '#client/lib/navigation.ts';
import { ALT_KEYS, isApple } from '#client/lib/keys.ts';
import { IconButton } from '#client/ui/button.tsx';
import styles from './wins.module.css';

type Lines = readonly DocumentLine[];

type LineListProps = {
  document: WinsDocument;
  canEdit: boolean;
  onLines: (change: (lines: Lines) => Lines) => void;
  onRemove: (line: DocumentLine) => void;
  onFocusLine: (id: string) => void;
  /** Announces a text to screen readers. */
  announce: (text: string) => void;
};

/** A line that is dragged. `to`: the index of the line before which it would go. */
type Drag = { id: string; to: number };

export function LineList({ document, canEdit, onLines, ...handlers }: LineListProps) {
  const { lines } = document;
  const list = useRef<HTMLUListElement>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  /** The index of the line before which a line that is dropped at this height goes. */
  const indexAt = (y: number): number => {
    const rows = [...(list.current?.children ?? [])].map((row) => row.getBoundingClientRect());
    const index = rows.findIndex(({ top, height }) => y < top + height / 2);
    return index === -1 ? rows.length : index;
  };

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a dragged line is dropped anywhere on the list
    <ul
      ref={list}
      className={styles.lines}
      onDragOver={(event) => {
        if (drag === null) return;
        event.preventDefault();
        const to = indexAt(event.clientY);
        if (to !== drag.to) setDrag({ ...drag, to });
      }}
      onDrop={(event) => {
        if (drag === null) return;
        event.preventDefault();
        const { id } = drag;
        const to = indexAt(event.clientY);
        onLines((before) => moveLine(before, id, to));
        setDrag(null);
      }}
    >
      {lines.map((line, index) => (
        <Line
          key={line.id}
          {...handlers}
          line={line}
          day={line.kind === 'win' ? lineDate(line.date, document) : ''}
          canEdit={canEdit}
          index={index}
          count={lines.length}
          isDragged={drag?.id === line.id}
          drop={drag?.to === index ? 'before' : drag?.to === index + 1 && index === lines.length - 1 ? 'after' : null}
          onLines={onLines}
          onDrag={setDrag}
        />
      ))}
    </ul>
  );
}

type LineProps = Omit<LineListProps, 'document'> & {
  line: DocumentLine;
  day: string;
  index: number;
  count: number;
  isDragged: boolean;
  /** On which side of this line the dragged one would go. */
  drop: 'before' | 'after' | null;
  onDrag: (drag: Drag | null) => void;
};

/** Memoised, so that a keystroke in one of hundreds of lines renders that line alone. The handlers must be stable. */
const Line = memo(function Line(props: LineProps) {
  const { line, day, canEdit, index, count, isDragged, drop } = props;
  const { onLines, onRemove, onFocusLine, onDrag, announce } = props;
  const { id } = line;
  const row = useRef<HTMLLIElement>(null);

  const nudge = (by: -1 | 1): void => {
    const to = index + by;
    if (to < 0 || to >= count) return;
    onLines((before) => nudgeLine(before, id, by));
    announce(`Line ${to + 1} of ${count}.`);
  };
  /** Keeps the line under the finger, so that the next tap moves the same one. */
  const nudgeByTap = (by: -1 | 1): void => {
    const topOf = (): number => window.document.getElementById(`line-${id}`)?.getBoundingClientRect().top ?? 0;
    const top = topOf();
    nudge(by);
    requestAnimationFrame(() => scrollBy(0, topOf() - top));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const isUp = event.key === 'ArrowUp';
    if (canEdit && (isUp || event.key === 'ArrowDown') && event.altKey && event.ctrlKey === isApple) {
      event.preventDefault();
      // React moves the element, and a moved element loses the focus in some browsers.
      const { currentTarget } = event as KeyboardEvent<HTMLElement>;
      nudge(isUp ? -1 : 1);
      requestAnimationFrame(() => currentTarget.focus());
    }
    // A line is one paragraph: Enter goes to the next one.
    if (event.key === 'Enter' && event.currentTarget instanceof HTMLTextAreaElement) {
      event.preventDefault();
      row.current!.nextElementSibling?.querySelector('textarea')?.focus();
    }
  };
  const removeAndFocusNear = (): void => {
    const next = row.current!.nextElementSibling ?? row.current!.previousElementSibling;
    onRemove(line);
    // Focuses a button, because the focus on a text would open the keyboard of a phone.
    if (next) requestAnimationFrame(() => next.querySelector<HTMLElement>('button:last-of-type')?.focus());
  };

  return (
    <li
      ref={row}
      className={styles.line}
      data-kind={line.kind}
      data-dragged={isDragged || undefined}
      data-before={drop === 'before' || undefined}
      data-after={drop === 'after' || undefined}
    >
      {canEdit && (
        <span
          className={styles.grip}
          draggable
          title={`Drag to move (${[...ALT_KEYS, '↑'].join('+')})`}
          onDragStart={(event) => {
            event.dataTransfer.effectAllowed = 'move';
            event.dataTransfer.setData('text/plain', line.text);
            onDrag({ id, to: -1 });
          }}
          onDragEnd={() => onDrag(null)}
        >
          <GripVertical aria-hidden />
        </span>
      )}
      <GrowingText
        id={`line-${id}`}
        className={line.kind === 'heading' ? styles.headingText : styles.winText}
        label={line.kind === 'heading' ? 'Heading' : `Win of ${dateLabel(line.date)}`}
        value={line.text}
        placeholder={line.kind === 'heading' ? 'Heading' : ''}
        maxLength={LINE_MAX_LENGTH}
        readOnly={!canEdit}
        onChange={(text) => onLines((before) => changeText(before, id, text.slice(0, LINE_MAX_LENGTH)))}
        onKeyDown={onKeyDown}
        onFocus={() => onFocusLine(id)}
      />
      {line.kind === 'win' && (
        <Link className={styles.day} to={dayPath(line.date)}>
          <span className="unseen">Log of </span>
          {day}
        </Link>
      )}
      {canEdit && (
        <span className={styles.tools}>
          <IconButton className={styles.nudge} label="Move up" disabled={index === 0} onClick={() => nudgeByTap(-1)}>
            <ArrowUp aria-hidden />
          </IconButton>
          <IconButton
            className={styles.nudge}
            label="Move down"
            disabled={index === count - 1}
            onClick={() => nudgeByTap(1)}
          >
            <ArrowDown aria-hidden />
          </IconButton>
          <IconButton
            label={line.kind === 'heading' ? 'Remove this heading' : 'Remove this line'}
            onClick={removeAndFocusNear}
          >
            <X aria-hidden />
          </IconButton>
        </span>
      )}
    </li>
  );
});

const indexOf = (lines: Lines, id: string): number => lines.findIndex((line) => line.id === id);

const changeText = (lines: Lines, id: string, text: string): Lines =>
  lines.map((line) => (line.id === id ? { ...line, text } : line));

/** Moves the line in front of the one at index `to`; `lines.length` is the end. */
export function moveLine(lines: Lines, id: string, to: number): Lines {
  const from = indexOf(lines, id);
  const line = lines[from];
  if (!line) return lines;
  const rest = lines.toSpliced(from, 1);
  return rest.toSpliced(Math.max(0, Math.min(to > from ? to - 1 : to, rest.length)), 0, line);
}

/** Moves the line one place up (-1) or down (1). */
export function nudgeLine(lines: Lines, id: string, by: -1 | 1): Lines {
  const from = indexOf(lines, id);
  return from === -1 ? lines : moveLine(lines, id, by === 1 ? from + 2 : from - 1);
}

export const removeLine = (lines: Lines, id: string): Lines => lines.filter((line) => line.id !== id);

/** Takes a removal back. A line that is there already stays. */
export const putBack = (lines: Lines, line: DocumentLine, index: number): Lines =>
  indexOf(lines, line.id) === -1 ? lines.toSpliced(Math.min(index, lines.length), 0, line) : lines;

/** Inserts the win behind the last win of the same or an earlier day; without one, before the first win. */
export function insertByDate(lines: Lines, win: WinLine): Lines {
  const before = lines.findLastIndex((line) => line.kind === 'win' && line.date <= win.date);
  const first = lines.findIndex((line) => line.kind === 'win');
  return lines.toSpliced(before >= 0 ? before + 1 : first >= 0 ? first : lines.length, 0, win);
}

/** Inserts the heading above the line with this id; without such a line, at the end. */
export function insertHeading(lines: Lines, heading: DocumentLine, above: string | null): Lines {
  const index = above === null ? -1 : indexOf(lines, above);
  return lines.toSpliced(index === -1 ? lines.length : index, 0, heading);
}

type GrowingTextProps = {
  id?: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  maxLength?: number;
  readOnly?: boolean;
  className?: string | undefined;
  onKeyDown?: (event: KeyboardEvent<HTMLTextAreaElement>) => void;
  onFocus?: (event: FocusEvent<HTMLTextAreaElement>) => void;
};

/** A text area as high as its text. Line ends become spaces: a line of a document is one paragraph. */
export function GrowingText({ label, value, onChange, className, placeholder = '', ...rest }: GrowingTextProps) {
  return (
    // The copy of the text, in the same grid cell, gives the field its height in every browser.
    <div className={[styles.growing, className].filter(Boolean).join(' ')} data-text={value || placeholder}>
      <textarea
        {...rest}
        rows={1}
        dir="auto"
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value.replaceAll(/[\r\n]+/g, ' '))}
      />
    </div>
  );
}
