import type { Day } from '#domain/day/day.ts';
import type { UpgradeFeature } from '#domain/plan/upgrade.ts';

/** The modal overlays of the journal. */
export type Overlay = 'menu' | 'find' | 'move' | 'versions' | 'deleted';

export type OverlayProps = {
  /** The day that is open in the journal; null until that is known. */
  date: Day | null;
  onClose: () => void;
  /** Opens another overlay in the place of this one. */
  onOpen: (overlay: Overlay, date: Day | null) => void;
  onUpgrade: (feature: UpgradeFeature) => void;
};
