/**
 * A proxy in front of a worker's server that fails like a network, and that releases a second version of the program.
 * Playwright's routes do not see what a service worker requests.
 */
import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Gateway = {
  readonly url: string;
  /** `down` closes every connection, `silent` never answers, `noPages` never answers requests for pages. */
  network: 'up' | 'down' | 'silent' | 'noPages';
  /**
   * Every script of the second version has another name, and those of the first one are gone. The entry script of the
   * second version sets `data-release` of the document.
   */
  release: 1 | 2;
  /** The status of the service worker's file. With `off`, the file is a worker that unregisters itself. */
  worker: 200 | 404 | 'off';
  /** The path and query of every navigation that has arrived, oldest first. */
  readonly navigations: readonly string[];
  close(): Promise<void>;
};

const SCRIPT = /-([\w-]{8})\.js\b/g;
const SECOND_SCRIPT = /-second-([\w-]{8})\.js\b/g;

/** A fixture for tests whose `baseURL` is the gateway's address. */
export async function openGateway(
  { server }: { server: { readonly url: string } },
  use: (gateway: Gateway) => Promise<void>,
): Promise<void> {
  const gateway = await startGateway(server.url);
  await use(gateway);
  await gateway.close();
}

async function startGateway(target: string): Promise<Gateway> {
  const server = createServer((incoming, outgoing) => {
    // Either side may end a connection.
    answer(incoming, outgoing).catch(() => void outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const navigations: string[] = [];
  const gateway: Gateway = {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    network: 'up',
    release: 1,
    worker: 200,
    navigations,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (incoming.headers['sec-fetch-mode'] === 'navigate') navigations.push(incoming.url!);
    if (gateway.network === 'silent') return;
    if (gateway.network === 'noPages' && incoming.headers['sec-fetch-mode'] === 'navigate') return;
    if (gateway.network === 'down') return void incoming.socket.destroy();
    let path = incoming.url!;
    if (path === '/service-worker.js') {
      if (gateway.worker === 404) return void outgoing.writeHead(404).end();
      if (gateway.worker === 'off') path = '/service-worker-off.js';
    }
    const isSecond = path.search(SECOND_SCRIPT) !== -1;
    if (gateway.release === 2 && !isSecond && path.startsWith('/assets/') && path.search(SCRIPT) !== -1) {
      return void outgoing.writeHead(404).end();
    }
    const isRewritten = gateway.release === 2 || gateway.worker === 'off';
    const sent = send(new URL(path.replace(SECOND_SCRIPT, '-$1.js'), target), {
      method: incoming.method!,
      // Identity encoding if the text is rewritten.
      headers: {
        ...incoming.headers,
        host: new URL(target).host,
        ...(isRewritten && { 'accept-encoding': 'identity' }),
      },
    });
    // When the browser closes a stream of events, the gateway closes it at the server too.
    outgoing.on('close', () => void sent.destroy());
    sent.on('error', () => undefined);
    incoming.pipe(sent);
    const [received] = (await once(sent, 'response')) as [IncomingMessage];
    if (!/^text\/(html|javascript)/.test(String(received.headers['content-type'])) || received.statusCode !== 200) {
      outgoing.writeHead(received.statusCode!, received.headers);
      return void received.pipe(outgoing);
    }
    // Without its tag, the browser never takes a text of the other version for unchanged.
    const { etag: _etag, ...untagged } = received.headers;
    if (!isRewritten) {
      outgoing.writeHead(200, untagged);
      return void received.pipe(outgoing);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of received) chunks.push(chunk as Buffer);
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = untagged;
    outgoing.writeHead(200, headers);
    outgoing.end(rewrite(Buffer.concat(chunks).toString('utf8'), path));
  }

  function rewrite(text: string, path: string): string {
    const switched =
      gateway.worker === 'off' ? text.replace('serviceWorker&quot;:true', 'serviceWorker&quot;:false') : text;
    if (gateway.release === 1) return switched;
    const mark = /\/app-second-/.test(path) ? 'document.documentElement.dataset.release="2";' : '';
    return (
      mark + switched.replaceAll(SCRIPT, '-second-$1.js').replaceAll('hustle-forge:shell:', 'hustle-forge:shell:2')
    );
  }
  return gateway;
}
