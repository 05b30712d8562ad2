/** Advice and findings that the checks of several providers share. */
import { fault, type Finding } from '../../check.ts';
import type { Reply } from '../../request.ts';

/** The status codes with which a provider refuses credentials. */
export const CREDENTIALS_REFUSED: ReadonlySet<number> = new Set([401, 403]);

export const CHECK_NETWORK = 'Check the address in the settings, DNS, and whether a firewall lets this machine out.';

export const describeUnreachable = (what: string, reply: Reply, fix: string): Finding =>
  fault(reply.status === 0 ? `${what}: ${reply.problem}` : `${what} answers ${reply.status}`, fix);
