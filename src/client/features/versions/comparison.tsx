/** Shows the differences of two texts: removed words struck out, added words underlined, each line with a sign. */
import type { CSSProperties } from 'react';
import { hasChanges, type Change, type ComparedLine, type Part } from './compare-logs.ts';
import styles from './comparison.module.css';

const SIGNS = { same: '', edited: '±', removed: '−', added: '+' } as const;
/** Screen readers ignore or garble signs, and few announce `<ins>` and `<del>`. */
const SPOKEN: Readonly<Record<ComparedLine['change'], string>> = {
  same: '',
  edited: 'Edited: ',
  removed: 'Removed: ',
  added: 'Added: ',
};

type ComparisonProps = { lines: readonly ComparedLine[]; label: string; isSameFormatting: boolean };

export function Comparison({ lines, label, isSameFormatting }: ComparisonProps) {
  const isChanged = hasChanges(lines);
  return (
    <div className={styles.comparison}>
      {!isChanged && (
        <p className={styles.note}>{isSameFormatting ? 'No difference.' : 'Only the formatting differs.'}</p>
      )}
      {/* Focusable, because it scrolls (WCAG 2.1.1). */}
      <ol className={styles.lines} aria-label={label} tabIndex={0}>
        {lines.map((line, index) => (
          <li
            key={index}
            className={styles.line}
            // The direction of the user's words: `bdi` leaves ours out.
            dir="auto"
            data-change={line.change}
            data-heading={line.isHeading}
            style={{ '--depth': Math.min(line.depth, 4) } as CSSProperties}
          >
            <span className={styles.sign} aria-hidden="true">
              {SIGNS[line.change]}
            </span>
            <span className={styles.marker}>{line.marker}</span>
            <p>
              {line.change !== 'same' && <bdi className="unseen">{SPOKEN[line.change]}</bdi>}
              {line.parts.map((part, at) => (
                <ComparedPart key={at} part={part} isSpoken={line.change === 'edited'} />
              ))}
            </p>
          </li>
        ))}
      </ol>
      {isChanged && (
        <p className={styles.legend}>
          <del>Struck out</del>: gone since this version. <ins>Underlined</ins>: added since.
        </p>
      )}
    </div>
  );
}

const ELEMENTS = { same: 'span', removed: 'del', added: 'ins' } as const satisfies Record<Change, string>;

function ComparedPart({ part: { change, text }, isSpoken }: { part: Part; isSpoken: boolean }) {
  const Element = ELEMENTS[change];
  if (change === 'same' || !isSpoken) return <Element>{text}</Element>;
  return (
    <Element>
      <bdi className="unseen">{change === 'removed' ? ' (removed: ' : ' (added: '}</bdi>
      {text}
      <bdi className="unseen">) </bdi>
    </Element>
  );
}
