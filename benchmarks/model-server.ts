/** Runs the model simulator as a separate process on PORT. */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createModelApp } from '../simulators/ai-model/server.ts';

const listener = getRequestListener(createModelApp().app.fetch);
createServer((incoming, outgoing) => void listener(incoming, outgoing)).listen(
  Number(process.env['PORT']),
  '127.0.0.1',
);
process.on('SIGTERM', () => process.exit(0));
