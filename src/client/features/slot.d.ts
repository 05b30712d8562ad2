/**
 * What the server writes into a prerendered page: `<hf-slot name="…">` is a place for the operator's own words,
 * `<hf-when name="…">` holds what only some servers show. Parts do not nest.
 */
import 'react';
import type { ReactNode } from 'react';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'hf-slot': { name: 'contact' | 'support' | 'social' | 'operator' };
      'hf-when': { key?: string; name: 'coach' | 'nocoach'; children: ReactNode };
    }
  }
}
