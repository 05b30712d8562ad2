/** Environment of a program that a test starts: nothing but the path and Node's compile cache, which halves its start. */
export const programEnvironment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
});
