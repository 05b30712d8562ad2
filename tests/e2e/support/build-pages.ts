/** Builds the pages once, before each worker starts a server that would build them (Playwright `globalSetup`). */
import { buildClient } from '../../../scripts/build/build-client.ts';

export default buildClient;
