/**
 * SIGHUP means "reload" to a service and "the terminal was closed" to a program that was started in one. Windows sends
 * it only when the console is closed.
 */
import { closeSync, openSync } from 'node:fs';

const hadTerminal = hasTerminal();

export const hasLostTerminal = (): boolean => process.platform === 'win32' || (hadTerminal && !hasTerminal());

/** Opening the controlling terminal fails for a process without one, and after it was closed. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
