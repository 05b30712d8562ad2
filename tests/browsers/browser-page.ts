/** The browser operations of these tests, independent of the protocol that drives the browser. */

export type BrowserPage = {
  /** Loads an address and resolves when the page has loaded. */
  open(url: string): Promise<void>;
  /** Runs a function in the page. It sees its arguments alone, which must be JSON. */
  evaluate<Args extends unknown[], Result>(work: (...args: Args) => Result, ...args: Args): Promise<Result>;
  /** A real click into the middle of the first element that the XPath finds; waits for the element. */
  click(xpath: string): Promise<void>;
  /** Real keys to whatever has the focus; a line break presses Enter. */
  type(text: string): Promise<void>;
  /** One key with modifiers held, by the names of `KeyboardEvent.key`. */
  press(key: string, ...modifiers: ('Control' | 'Shift' | 'Alt')[]): Promise<void>;
  /** The size of the page's area in CSS pixels; an engine may stop at a least width of its own. */
  resize(width: number, height: number): Promise<void>;
  /** A second tab of the same profile. */
  newTab(): Promise<BrowserPage>;
  /** Errors that the page threw or logged since it was opened. */
  errors(): Promise<readonly string[]>;
};

export type EngineBrowser = { page: BrowserPage; version: string; close(): Promise<void> };

export const WAIT_LIMIT_MS = 20_000;
