/** What a long step reports while it runs. */
export type Progress = {
  /** What is done now, such as `reading public.entries`. */
  doing: string;
  /** Bytes of the step so far, uncompressed unless the step reads a file. */
  bytes: number;
};

export type OnProgress = (progress: Progress) => void;
