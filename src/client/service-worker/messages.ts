/** Messages from a page to the service worker. */
export type PageMessage =
  /** A page of the worker's version is open: the worker may delete files that no open page needs. */
  | { type: 'sameVersion' }
  /** Answered through the message's port with whether the worker's version has all of these files. */
  | { type: 'hasFiles'; paths: readonly string[] };
