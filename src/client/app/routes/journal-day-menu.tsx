/** The menu beside the date: what can be done with the open day, unless the plan locks it, and the deleted days. */
import { useEffect, useRef, type KeyboardEvent } from 'react';
import { useJournal } from '#client/sync/day-savers-provider.tsx';
import { withDayKey } from '#client/lib/keys.ts';
import styles from './journal-day-menu.module.css';
import type { Overlay, OverlayProps } from './overlay-props.ts';

const GAP_PX = 4;
const MARGIN_PX = 8;

export function JournalDayMenu({ date, onClose, onOpen }: OverlayProps) {
  const { savers } = useJournal();
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = menu.current!;
    const button = document.querySelector<HTMLElement>('header [aria-haspopup="menu"]');
    element.showPopover();
    const box = button?.getBoundingClientRect();
    if (box) {
      const left = Math.min(box.left, document.documentElement.clientWidth - element.offsetWidth - MARGIN_PX);
      element.style.transform = `translate(${Math.round(left)}px, ${Math.round(box.bottom + GAP_PX)}px)`;
    }
    element.querySelector('button')?.focus();
    // The browser restores the focus only if it closes the popover itself.
    return () => button?.focus();
  }, []);

  const view = date && savers.get(date)?.view();
  const isOpen = view && view.status.kind !== 'locked';
  const hasLog = isOpen && (view.stored || view.unsaved);
  const onKeyDown = (event: KeyboardEvent): void => {
    const items = [...menu.current!.querySelectorAll('button')];
    const at = items.indexOf(event.target as HTMLButtonElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    // A key with Alt may be a shortcut of the journal, for example one that opens another day.
    if (event.key === 'Tab' || event.altKey) return onClose();
    if (next === undefined) return;
    items[(next + items.length) % items.length]?.focus();
    event.preventDefault();
  };
  const item = (overlay: Overlay, label: string, title?: string) => (
    <button type="button" role="menuitem" title={title} onClick={() => onOpen(overlay, date)}>
      {label}
    </button>
  );
  return (
    <nav aria-label="Day">
      <div
        ref={menu}
        popover="auto"
        role="menu"
        aria-label="Actions for this day"
        className={styles.menu}
        onKeyDown={onKeyDown}
        onToggle={({ newState }) => newState === 'closed' && onClose()}
      >
        {hasLog && item('move', 'Move this log to another day…', withDayKey('move'))}
        {isOpen && item('versions', 'Earlier versions…')}
        {item('deleted', 'Deleted days…')}
      </div>
    </nav>
  );
}
