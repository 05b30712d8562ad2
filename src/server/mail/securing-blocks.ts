import type { SecuringAdvice } from '#domain/account/securing-advice.ts';
import type { EmailBlock } from './email-template.ts';

/** The advice for an owner who did not make the change, with the URL of the page on which to follow it. */
export type Securing = Omit<SecuringAdvice, 'page'> & {
  page: { link: string; label: string };
  /** No other notice is sent to this address for up to an hour. */
  isLast?: boolean;
};

/** @param condition the beginning of the sentence, such as "If it was not you," */
export const securingBlocks = (
  { words, page, services, isLast }: Securing,
  condition = 'If it was not you,',
): readonly EmailBlock[] => [
  `${condition} ${words}:`,
  page,
  ...(services === null ? [] : [services]),
  ...(isLast ? [LAST_NOTICE] : []),
];

const LAST_NOTICE = 'This is the last notice for up to an hour. Your profile shows the changes that follow.';
