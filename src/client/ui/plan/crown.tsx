/** The icon for features that only premium users can use. The crown without a lock is lucide's. */
import type { ComponentProps } from 'react';

export function LockedCrown(props: ComponentProps<'svg'>) {
  return (
    <svg
      viewBox="0 0 24 24"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      {...props}
    >
      <path d="M11 17H5.8a1 1 0 0 1-1-.7L2 6a.5.5 0 0 1 .8-.5l4.300 3.700a1 1 0 0 0 1.500-.3l3-5.600a.5.5 0 0 1 .8 0l3 5.600a1 1 0 0 0 1.500.3l4.300-3.700A.5.5 0 0 1 22 6l-1 3.600" />
      <rect x="14.500" y="16.500" width="7.500" height="5.500" rx="1" />
      <path d="M16.300 16.500v-1.600a2 2 0 0 1 4 0v1.600" />
    </svg>
  );
}
