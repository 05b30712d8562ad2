/**
 * Elements that the server replaces in a prerendered page: `<hf-slot name="…">` becomes the operator's text, and
 * `<hf-when name="…">` is kept only if its condition holds. They do not nest.
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
