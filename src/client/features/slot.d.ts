/** `<hf-slot name="…">` marks where the server writes the operator's own words into a prerendered page. */
import 'react';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'hf-slot': { name: 'contact' | 'social' | 'operator' };
    }
  }
}
