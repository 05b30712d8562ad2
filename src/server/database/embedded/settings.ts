/** How the embedded server is set: a small machine, one product, and nothing of a journal in its log. */

import type { Endpoint } from './endpoint.ts';

/** Enough for the server's pool, an operator's command and a look with psql at the same time. */
const MAX_CONNECTIONS = 50;

export function serverSettings(endpoint: Endpoint): Record<string, string> {
  return {
    port: String(endpoint.port),
    // Relative to the server's working directory, the cluster: the path stays short and needs no walk from `/`.
    unix_socket_directories: endpoint.kind === 'socket' ? '.' : '',
    unix_socket_permissions: '0700',
    listen_addresses: endpoint.kind === 'loopback' ? '127.0.0.1' : '',
    max_connections: String(MAX_CONNECTIONS),
    shared_buffers: '64MB',
    // Our statements are short: compiling them would take longer than running them.
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // A refused row is quoted in the DETAIL of its error, and a failed statement may carry values: neither is logged,
    // because what somebody wrote in their journal has no place in a log.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
  };
}
