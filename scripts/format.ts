/** `npm run format`: formats every file. */
import { runTool } from './tools.ts';

process.exitCode = (await runTool('oxfmt', ['.'])) ? 0 : 1;
