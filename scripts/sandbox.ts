/** Starts the simulators' process and tells where it listens. The product itself never does: it only gets addresses. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from './parent.ts';

/** The settings that point the product at the simulators, by their variables' names; without those that are set already. */
export type SandboxSettings = Readonly<Record<string, string>>;

/**
 * The process ends with this one, whichever way this one ends, because the channel between them closes.
 *
 * @param place.publicUrl where people reach the product: payers come back to it, and webhooks go to it
 * @param place.dataDir below it the payments are kept, as the product keeps its own
 */
export async function startSandbox({
  publicUrl,
  dataDir,
}: {
  publicUrl: string;
  dataDir: string;
}): Promise<SandboxSettings> {
  const simulators = fork(join(ROOT, 'simulators', 'main.ts'), [publicUrl, dataDir], { stdio: 'inherit' });
  process.once('exit', () => simulators.kill());
  const gone = once(simulators, 'exit').then(([code]) => {
    throw new Error(`the simulators ended with ${String(code)}`);
  });
  const [told] = (await Promise.race([once(simulators, 'message'), gone])) as [SandboxSettings];
  // From now on their end is no failure of the start: the sandbox pages then answer that they are unreachable.
  gone.catch(() => undefined);
  simulators.unref();
  simulators.channel?.unref();
  return notSetAlready(told);
}

/** What an operator has set stays: a real mail server, say. Of PayPal and of the model it is all or nothing, for half of each would fit neither. */
const notSetAlready = (settings: SandboxSettings): SandboxSettings =>
  Object.fromEntries(
    Object.entries(settings).filter(
      ([name]) =>
        !process.env[name] &&
        !(name.startsWith('PAYPAL_') && process.env['PAYPAL_CLIENT_ID']) &&
        !(name.startsWith('AI_') && MODEL_OF_ITS_OWN.some((own) => process.env[own])),
    ),
  );

/** Any of them says that the operator has a model in mind, or none (`AI_PROVIDER=none`). */
const MODEL_OF_ITS_OWN = ['AI_PROVIDER', 'AI_API_KEY', 'AI_BASE_URL', 'AI_MODEL'];
