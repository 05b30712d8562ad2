/** Settings of the embedded server: sized for a small machine, and no journal text in its log. */
import type { Endpoint } from './endpoint.ts';

/** Enough for the server's pool, an operator's command and psql together. */
const MAX_CONNECTIONS = 50;
/** The pool of one more process, its listener and a spare one. */
const CONNECTIONS_PER_WORKER = 18;

/** `max_connections` for several processes. During a rolling restart one of them exists twice. */
export const connectionsFor = (workers: number): string => String(MAX_CONNECTIONS + workers * CONNECTIONS_PER_WORKER);

/** @param version such as `18.4` */
export function serverSettings(endpoint: Endpoint, version: string): Record<string, string> {
  return {
    port: String(endpoint.port),
    // Relative to the server's working directory (the cluster): a short path that needs no traversal from `/`.
    unix_socket_directories: endpoint.kind === 'socket' ? '.' : '',
    unix_socket_permissions: '0700',
    listen_addresses: endpoint.kind === 'loopback' ? '127.0.0.1' : '',
    max_connections: String(MAX_CONNECTIONS),
    shared_buffers: '64MB',
    // Four processes fewer: this server has no replicas, and what it reads is in memory.
    max_logical_replication_workers: '0',
    ...(Number.parseInt(version, 10) >= 18 && { io_method: 'sync' }),
    // Our statements are short: JIT compilation would cost more than it saves.
    jit: 'off',
    // An acknowledged save is on disk. Set here, because a setting of the command line overrides postgresql.conf.
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // Threat: the DETAIL of an error quotes the rejected row, and a failed statement may contain values. Neither is
    // logged, because the log must not contain journal text.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
  };
}
