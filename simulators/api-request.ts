/** A request as a simulator sees it, whether it came over a socket or in the same process. */
export type ApiRequest = {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
