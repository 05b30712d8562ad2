/** Runs the model simulator as a separate process on PORT. */
import { createModelApp } from '../simulators/ai-model/server.ts';
import { serveApp } from '../simulators/host.ts';

await serveApp(createModelApp().app, Number(process.env['PORT']));
process.on('SIGTERM', () => process.exit(0));
