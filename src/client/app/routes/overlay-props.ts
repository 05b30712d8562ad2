import type { Day } from '#domain/day/day.ts';

/** The overlays of the journal. All but `day`, a small menu, are modal. */
export type Overlay = 'menu' | 'day' | 'calendar' | 'find' | 'move' | 'versions' | 'deleted';

export type OverlayProps = {
  /** The day that is open in the journal; null until that is known. */
  date: Day | null;
  onClose: () => void;
  /** Opens another overlay in the place of this one. */
  onOpen: (overlay: Overlay, date: Day | null) => void;
};
