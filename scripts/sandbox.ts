/** Starts the simulators' process and tells where it listens. The product itself never does: it only gets addresses. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from './parent.ts';

/** The settings that point the product at the simulators, by their variables' names. */
export type SandboxSettings = { SANDBOX_URL: string; SMTP_URL: string };

/** The process ends with this one, whichever way this one ends, because the channel between them closes. */
export async function startSandbox(): Promise<SandboxSettings> {
  const simulators = fork(join(ROOT, 'simulators', 'main.ts'), { stdio: 'inherit' });
  process.once('exit', () => simulators.kill());
  const gone = once(simulators, 'exit').then(([code]) => {
    throw new Error(`the simulators ended with ${String(code)}`);
  });
  const [told] = (await Promise.race([once(simulators, 'message'), gone])) as [{ smtpUrl: string; httpUrl: string }];
  // From now on their end is no failure of the start: the sandbox pages then answer that they are unreachable.
  gone.catch(() => undefined);
  simulators.unref();
  simulators.channel?.unref();
  return { SANDBOX_URL: told.httpUrl, SMTP_URL: told.smtpUrl };
}
