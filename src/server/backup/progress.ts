/** The report of a long step while it runs. */
export type Progress = {
  /** Such as `reading public.entries`. */
  doing: string;
  /** Bytes of the step so far, uncompressed unless the step reads a file. */
  bytes: number;
};

export type OnProgress = (progress: Progress) => void;
