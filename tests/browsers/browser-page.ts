/** The browser operations of these tests, independent of the protocol that drives the browser. */

export type BrowserPage = {
  /** Loads an address and resolves when the page has loaded. */
  open(url: string): Promise<void>;
  /** Runs a function in the page. The function cannot use outer variables, and its arguments must be JSON. */
  evaluate<Args extends unknown[], Result>(work: (...args: Args) => Result, ...args: Args): Promise<Result>;
  /** Waits for the first element that the XPath finds and clicks its middle with a real pointer event. */
  click(xpath: string): Promise<void>;
  /** Sends real key events to the focused element. A line break presses Enter. */
  type(text: string): Promise<void>;
  /** Presses one key while the modifiers are held. The names are those of `KeyboardEvent.key`. */
  press(key: string, ...modifiers: ('Control' | 'Shift' | 'Alt')[]): Promise<void>;
  /** Sets the size of the page's area in CSS pixels. An engine may enforce a minimum width. */
  resize(width: number, height: number): Promise<void>;
  /** Opens another tab of the same profile. */
  newTab(): Promise<BrowserPage>;
  /** Errors that the page threw or logged: in WebKit since the last `open`, in Firefox since the tab was created. */
  errors(): Promise<readonly string[]>;
};

export type EngineBrowser = { page: BrowserPage; version: string; close(): Promise<void> };

export const WAIT_LIMIT_MS = 20_000;
