/** GET /health: who answers here, in the form that clients of this wire know. */
import manifest from '../../../../package.json' with { type: 'json' };
import type { Endpoint } from '../auth-deps.ts';

export const health: Endpoint = (context) =>
  context.json({ version: manifest.version, name: 'GoTrue', description: 'Hustle Forge accounts' });
