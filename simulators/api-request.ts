/** A request to a simulator, independent of its transport: over HTTP or in process. */
export type ApiRequest = {
  readonly method: string;
  /** Without the query string. */
  readonly path: string;
  readonly query: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
