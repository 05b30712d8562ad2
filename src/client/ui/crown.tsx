/** The crown of a Closer, and the same crown under lock for what a Closer alone may do. */
import type { ComponentProps } from 'react';

const CROWN = 'M3.5 8.5 8 12l4-6.5 4 6.5 4.500-3.500L19 18H5L3.500 8.500Z';

export function Crown(props: ComponentProps<'svg'>) {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinejoin="round" {...props}>
      <path d={CROWN} />
    </svg>
  );
}

export function LockedCrown(props: ComponentProps<'svg'>) {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" {...props}>
      <path d="M11 16.500H4.800L3.500 7.500 7.800 11l3.800-6.200 3.700 6 4.300-3.300-.300 2.300" />
      <rect x="14" y="16" width="8" height="5.500" rx="1" />
      <path d="M15.800 16v-1.400a2.200 2.200 0 0 1 4.400 0V16" />
    </svg>
  );
}
