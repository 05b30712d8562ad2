/**
 * Node's flags for the server, repeated in the Dockerfile and the systemd unit. Requests produce much short-lived
 * garbage: with V8's default semi-space (16 MB) the process holds 320 MB after the load test, with 4 MB 235 MB, at the
 * same speed. V8 lets the heap grow to four times what lives before it collects; with twice (a growth of 100 %) the
 * process holds 190 MB, a save takes 4 % more of its CPU and a read none. With 60 % reads were a tenth slower.
 */
export const SERVER_NODE_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=100'];

/**
 * Environment of the server, repeated in the Dockerfile and the systemd unit. An operator's value takes precedence.
 *
 * - glibc gives each of Node's threads a heap of its own; with two heaps the process holds 3 MB less at rest.
 * - glibc raises the size from which it maps memory, and so gives it back, to that of the largest buffer it has freed.
 *   With a fixed size the buffers of a flood of large bodies are given back.
 */
export const SERVER_ENVIRONMENT = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };
