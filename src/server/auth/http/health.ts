/** GET /health, in the format of supabase/auth. */
import manifest from '../../../../package.json' with { type: 'json' };
import type { Endpoint } from './auth-deps.ts';

export const health: Endpoint = (context) =>
  context.json({ version: manifest.version, name: 'GoTrue', description: 'Hustle Forge accounts' });
