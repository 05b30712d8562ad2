/**
 * Elements that the server replaces in a prerendered page: `<hf-slot name="…">` becomes the operator's text, and the
 * content of `<hf-when name="…">` is kept only if its condition holds. `<hf-when>` elements may nest.
 */
import 'react';
import type { ReactNode } from 'react';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'hf-slot': { name: 'contact' | 'support' | 'social' | 'operator' };
      'hf-when': { key?: string; name: 'coach' | 'nocoach' | 'signups' | 'nosignups'; children: ReactNode };
    }
  }
}
