/**
 * Node's flags for the server, repeated in the Dockerfile and the systemd unit. Requests produce much short-lived
 * garbage: with V8's default semi-space (16 MB) the process holds 320 MB after the load test, with 4 MB it holds 195 MB,
 * at the same speed. Some of it reaches the old space, which V8 lets grow to several times the 28 MB in use, until the
 * process holds 205 to 245 MB. With a growth of 60 % it holds 167 to 191 MB. With 30 % it collected more often, for no gain.
 */
export const SERVER_NODE_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=60'];

/**
 * Environment of the server, repeated in the Dockerfile and the systemd unit. glibc gives each of Node's threads a heap
 * of its own; with two heaps the process holds 3 MB less at rest. An operator's value takes precedence.
 */
export const SERVER_ENVIRONMENT = { MALLOC_ARENA_MAX: '2' };
