/** `npm run format`: formats every file. */
import { runTool } from './child-processes.ts';

process.exitCode = (await runTool('oxfmt', ['.'])) ? 0 : 1;
