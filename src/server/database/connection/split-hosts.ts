/**
 * Connection strings that name several servers, in both forms of libpq:
 * `postgres://user:password@a:5432,b:5433/forge` and `postgres://user:password@/forge?host=a,b&port=5432,5433`.
 * The driver accepts one server, so each server gets a URL of its own.
 */

/** One URL per server, in the order of the list. A URL with one server is returned unchanged. */
export function splitHosts(url: string): string[] {
  const [, scheme = '', authority = '', path = '', query] =
    /^([a-z]+:\/\/)([^/?]*)([^?]*)(?:\?(.*))?$/is.exec(url) ?? [];
  const at = authority.lastIndexOf('@') + 1;
  const credentials = authority.slice(0, at);
  const hosts = authority.slice(at).split(',');
  if (hosts.length > 1) {
    return hosts.map((host) => `${scheme}${credentials}${host}${path}${query === undefined ? '' : `?${query}`}`);
  }
  const parameters = new URLSearchParams(query);
  const names = parameters.get('host')?.split(',') ?? [];
  if (names.length < 2) return [url];
  const ports = (parameters.get('port') ?? '').split(',');
  return names.map((host, index) => {
    const hostParameters = new URLSearchParams(parameters);
    hostParameters.set('host', host);
    const port = ports.length === 1 ? ports[0] : ports[index];
    if (port) hostParameters.set('port', port);
    else hostParameters.delete('port');
    return `${scheme}${authority}${path}?${hostParameters.toString()}`;
  });
}

/** libpq's `target_session_attrs`; null if it is not given. */
export const sessionAttributes = (url: string): string | null =>
  new URLSearchParams(url.split('?')[1] ?? '').get('target_session_attrs');
