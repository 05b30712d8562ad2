import { fault, ok, warning, type Finding } from '../check.ts';

/** A code of an authenticator app is accepted up to 30 seconds early or late: larger offsets reject more and more codes. */
const CLOCK_WARNING_MS = 2_000;
const CLOCK_FAULT_MS = 25_000;

/** @param errorMs how far the measured offset may be from the real one */
export function describeOffset(whose: string, offsetMs: number, errorMs: number): Finding {
  const sureMs = Math.max(0, Math.abs(offsetMs) - errorMs);
  const seconds = `${(Math.abs(offsetMs) / 1000).toFixed(1)} s`;
  const text = `the clock of ${whose} is ${seconds} ${offsetMs > 0 ? 'ahead of' : 'behind'} this machine`;
  const fix = 'Run a time service (chrony or systemd-timesyncd) on both machines.';
  if (sureMs > CLOCK_FAULT_MS) {
    return fault(
      `${text}: from 30 s on, codes of authenticator apps can be refused, and tokens seem expired or not yet valid`,
      fix,
    );
  }
  if (sureMs > CLOCK_WARNING_MS)
    return warning(`${text}; from 30 s on, codes of authenticator apps can be refused`, fix);
  return ok(`the clock of ${whose} agrees with this machine`);
}
