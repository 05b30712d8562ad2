/**
 * Node's flags for the server, repeated in the Dockerfile. Requests produce much short-lived garbage: with V8's default
 * semi-space (16 MB) the process holds 320 MB after the load test, with 4 MB it holds 195 MB, at the same speed.
 */
export const SERVER_NODE_FLAGS = ['--max-semi-space-size=4'];
