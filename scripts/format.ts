/** `npm run format`: lays every file out the one way. */
import { runTool } from './tools.ts';

process.exitCode = (await runTool('oxfmt', ['.'])) ? 0 : 1;
