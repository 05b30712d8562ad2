/** Starts the simulators in a child process. The product only receives settings: their addresses and keys. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from '../project.ts';

/** Environment variables that point the product at the simulators. */
export type SandboxSettings = Readonly<Record<string, string>>;

/**
 * Returns the settings for the product. The child exits with this process, because their IPC channel closes.
 *
 * @param options.publicUrl the product's origin: payers are redirected to it and webhooks are sent to it
 * @param options.dataDir the folder below which the simulated payments are stored
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
  const exited = once(simulators, 'exit').then(([code]) => {
    throw new Error(`the simulators exited with ${String(code)}`);
  });
  const [settings] = (await Promise.race([once(simulators, 'message'), exited])) as [SandboxSettings];
  // Attach a handler now, or a later exit is an unhandled rejection. The sandbox pages report that exit to the user.
  exited.catch(() => undefined);
  simulators.unref();
  simulators.channel?.unref();
  return withoutOverridden(settings);
}

/**
 * Drops the settings that the operator has set, a real mail server for example. A mix of real and simulated values
 * would work with neither, so some are dropped as a group: those of PayPal, text messages, the captcha, Google and
 * GitHub once the client id, account id or site key is set, those of inbound mail once its domain is, those of the model once any of `MODEL_SETTINGS` is set.
 */
const withoutOverridden = (settings: SandboxSettings): SandboxSettings =>
  Object.fromEntries(
    Object.entries(settings).filter(
      ([name]) =>
        !process.env[name] &&
        !(name.startsWith('PAYPAL_') && process.env['PAYPAL_CLIENT_ID']) &&
        !(name.startsWith('AI_') && MODEL_SETTINGS.some((setting) => process.env[setting])) &&
        !(name.startsWith('SMS_') && process.env['SMS_ACCOUNT_SID']) &&
        !(name.startsWith('INBOUND_') && process.env['INBOUND_DOMAIN']) &&
        !(name.startsWith('CAPTCHA_') && process.env['CAPTCHA_SITE_KEY']) &&
        !(name.startsWith('GOOGLE_') && process.env['GOOGLE_CLIENT_ID']) &&
        !(name.startsWith('GITHUB_') && process.env['GITHUB_CLIENT_ID']),
    ),
  );

/** Each of these settings means that the operator has configured a model, or none (`AI_PROVIDER=none`). */
const MODEL_SETTINGS = ['AI_PROVIDER', 'AI_API_KEY', 'AI_BASE_URL', 'AI_MODEL'];
