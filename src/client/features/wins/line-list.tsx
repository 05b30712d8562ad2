/**
 * The lines of a document, with their own wording and order. They move by dragging, with Alt and the arrow keys as the items
 * of a log do, and on a touch screen with buttons.
 */
import { useRef, useState, type KeyboardEvent } from 'react';
import { Link } from 'wouter';
import { ArrowDown, ArrowUp, GripVertical, X } from 'lucide-react';
import { dateLabel } from '#domain/day/day.ts';
import { LINE_MAX_LENGTH, lineDate, type DocumentLine, type WinsDocument } from '#domain/documents/wins-document.ts';
import { dayPath } from '#domain/routes.ts';
import { ALT_KEYS, isApple } from '#client/lib/keys.ts';
import { IconButton } from '#client/ui/button.tsx';
import { moveLine, nudgeLine } from './edit-lines.ts';
import { GrowingText } from './growing-text.tsx';
import styles from './wins.module.css';

type Lines = readonly DocumentLine[];

type LineListProps = {
  document: WinsDocument;
  canEdit: boolean;
  onText: (id: string, text: string) => void;
  onLines: (change: (lines: Lines) => Lines) => void;
  onRemove: (line: DocumentLine) => void;
  onFocusLine: (id: string) => void;
  /** Tells screen readers. */
  announce: (text: string) => void;
};

/** Where a dragged line would go: before the line with this index. */
type Drag = { id: string; to: number };

export function LineList({ document, canEdit, onText, onLines, onRemove, onFocusLine, announce }: LineListProps) {
  const { lines } = document;
  const list = useRef<HTMLUListElement>(null);
  const [drag, setDrag] = useState<Drag | null>(null);

  const nudge = (line: DocumentLine, by: -1 | 1): void => {
    const index = lines.findIndex(({ id }) => id === line.id) + by;
    if (index < 0 || index >= lines.length) return;
    onLines((before) => nudgeLine(before, line.id, by));
    announce(`Line ${index + 1} of ${lines.length}.`);
  };
  const onKeyDown = (event: KeyboardEvent, line: DocumentLine): void => {
    const isUp = event.key === 'ArrowUp';
    if (canEdit && (isUp || event.key === 'ArrowDown') && event.altKey && event.ctrlKey === isApple) {
      event.preventDefault();
      // React moves the element, and a moved element loses the focus in some browsers.
      const { currentTarget } = event as KeyboardEvent<HTMLElement>;
      nudge(line, isUp ? -1 : 1);
      requestAnimationFrame(() => currentTarget.focus());
    }
    // A line is one paragraph: Enter goes to the next one.
    if (event.key === 'Enter' && event.currentTarget instanceof HTMLTextAreaElement) {
      event.preventDefault();
      const next = lines[lines.findIndex(({ id }) => id === line.id) + 1];
      if (next) window.document.getElementById(`line-${next.id}`)?.focus();
    }
  };
  const keepFocusNear = (line: DocumentLine): void => {
    const index = lines.findIndex(({ id }) => id === line.id);
    const neighbour = lines[index + 1] ?? lines[index - 1];
    onRemove(line);
    if (neighbour) requestAnimationFrame(() => window.document.getElementById(`line-${neighbour.id}`)?.focus());
  };
  /** The index that a dragged line would get at this height. */
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
        <li
          key={line.id}
          className={styles.line}
          data-kind={line.kind}
          data-dragged={drag?.id === line.id || undefined}
          data-before={drag?.to === index || undefined}
          data-after={(drag?.to === lines.length && index === lines.length - 1) || undefined}
        >
          {canEdit && (
            <span
              className={styles.grip}
              draggable
              title={`Drag to move (${[...ALT_KEYS, '↑'].join('+')})`}
              onDragStart={(event) => {
                event.dataTransfer.effectAllowed = 'move';
                event.dataTransfer.setData('text/plain', line.text);
                setDrag({ id: line.id, to: index });
              }}
              onDragEnd={() => setDrag(null)}
            >
              <GripVertical aria-hidden />
            </span>
          )}
          <GrowingText
            id={`line-${line.id}`}
            className={line.kind === 'heading' ? styles.headingText : styles.winText}
            label={line.kind === 'heading' ? 'Heading' : `Win of ${dateLabel(line.date)}`}
            value={line.text}
            placeholder={line.kind === 'heading' ? 'Heading' : ''}
            maxLength={LINE_MAX_LENGTH}
            readOnly={!canEdit}
            onChange={(text) => onText(line.id, text)}
            onKeyDown={(event) => onKeyDown(event, line)}
            onFocus={() => onFocusLine(line.id)}
          />
          {line.kind === 'win' && (
            <Link className={styles.day} to={dayPath(line.date)}>
              <span className="unseen">Log of </span>
              {lineDate(line.date, document)}
            </Link>
          )}
          {canEdit && (
            <span className={styles.tools}>
              <IconButton
                className={styles.nudge}
                label="Move up"
                disabled={index === 0}
                onClick={() => nudge(line, -1)}
              >
                <ArrowUp aria-hidden />
              </IconButton>
              <IconButton
                className={styles.nudge}
                label="Move down"
                disabled={index === lines.length - 1}
                onClick={() => nudge(line, 1)}
              >
                <ArrowDown aria-hidden />
              </IconButton>
              <IconButton
                label={line.kind === 'heading' ? 'Remove this heading' : 'Remove this line'}
                onClick={() => keepFocusNear(line)}
              >
                <X aria-hidden />
              </IconButton>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
