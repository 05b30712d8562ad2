/**
 * A proxy in front of a worker's server that fails like a network, and that releases a second version of the program.
 * Playwright's routes do not see what a service worker requests.
 */
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Gateway = {
  readonly url: string;
  /** `down` closes every connection, `silent` never answers. */
  network: 'up' | 'down' | 'silent';
  /** The second version has another entry script, which sets `data-release` of the document; the first one is gone. */
  release: 1 | 2;
  /** The status of the service worker's file; `off` serves the worker that removes it. */
  worker: 200 | 404 | 'off';
  close(): Promise<void>;
};

const ENTRY = /\bapp-([\w-]{8})\.js\b/g;
const SECOND_ENTRY = /\bapp-second-([\w-]{8})\.js\b/g;

export async function startGateway(target: string): Promise<Gateway> {
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gateway: Gateway = {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    network: 'up',
    release: 1,
    worker: 200,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (gateway.network === 'silent') return;
    if (gateway.network === 'down') return void incoming.socket.destroy();
    let path = incoming.url!;
    if (path === '/service-worker.js') {
      if (gateway.worker === 404) return void outgoing.writeHead(404).end();
      if (gateway.worker === 'off') path = '/service-worker-off.js';
    }
    const isOldEntry = path.startsWith('/assets/') && new RegExp(ENTRY.source).test(path);
    if (gateway.release === 2 && isOldEntry) return void outgoing.writeHead(404).end();
    const sent = send(new URL(path.replace(SECOND_ENTRY, 'app-$1.js'), target), {
      method: incoming.method!,
      // Identity encoding, so that the text can be rewritten.
      headers: { ...incoming.headers, host: new URL(target).host, 'accept-encoding': 'identity' },
    });
    incoming.pipe(sent);
    const [received] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of received) chunks.push(chunk as Buffer);
    const { 'content-length': _length, 'transfer-encoding': _encoding, etag: _etag, ...headers } = received.headers;
    const body = Buffer.concat(chunks);
    const isText = /^text\/(html|javascript)/.test(String(headers['content-type']));
    outgoing.writeHead(received.statusCode!, headers);
    outgoing.end(isText && received.statusCode === 200 ? rewrite(body.toString('utf8'), path) : body);
  }

  function rewrite(text: string, path: string): string {
    const switched =
      gateway.worker === 'off' ? text.replace('serviceWorker&quot;:true', 'serviceWorker&quot;:false') : text;
    if (gateway.release === 1) return switched;
    const mark = new RegExp(SECOND_ENTRY.source).test(path) ? 'document.documentElement.dataset.release="2";' : '';
    return (
      mark + switched.replaceAll(ENTRY, 'app-second-$1.js').replaceAll('hustle-forge:shell:', 'hustle-forge:shell:2')
    );
  }
  return gateway;
}
