/** `npm run build`: builds stale pages without starting the server, before an upgrade in place (docs/operations/scaling.md). */
import { buildClient } from './build-client.ts';

await buildClient();
