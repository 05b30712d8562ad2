/** Starts the simulators in this process. The product only receives settings: their addresses and keys. */
import type { SandboxSettings } from '../../simulators/main.ts';

/** Returns the settings for the product. See `startSimulators` for the options. */
export async function startSandbox(options: { publicUrl: string; dataDir: string }): Promise<SandboxSettings> {
  const { startSimulators } = await import('../../simulators/main.ts');
  return withoutOverridden(await startSimulators(options));
}

/**
 * Drops the settings that the operator has set, a real mail server for example. A mix of real and simulated values
 * would work with neither, so some are dropped as a group: those of PayPal, text messages, the captcha, Google and
 * GitHub once the client id, account id or site key is set, those of inbound mail once its domain is, those of the
 * model once any of `MODEL_SETTINGS` is set.
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
