/** Runs the real server in a child process and PayPal's simulator in the test process, where it survives the kills. */
import { freePort } from '#server/free-port.ts';
import { startPaypalServer, type PaypalServer } from '../../simulators/paypal/server.ts';
import { createServerProcess, signUpAt, type ServerProcess } from './server-process.ts';

export type Answer = { status: number; json: Record<string, unknown> };

export type PaymentServer = ServerProcess & {
  readonly paypal: PaypalServer;
  /** Creates an account. `call` invokes a server function as its user. */
  signUp(): Promise<{ userId: string; call(name: string, body: object): Promise<Answer> }>;
};

export async function createPaymentServer(): Promise<PaymentServer> {
  const port = await freePort();
  const paypal = await startPaypalServer({ publicUrl: `http://localhost:${port}` });
  const server = await createServerProcess(port, paypal.settings);
  const { url } = server;
  return {
    ...server,
    paypal,
    async signUp() {
      const { userId, headers } = await signUpAt(url);
      return {
        userId,
        async call(name, fields) {
          const body = JSON.stringify({ ...fields, user_id: userId });
          const answer = await fetch(`${url}/functions/v1/${name}`, { method: 'POST', headers, body });
          return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
        },
      };
    },
    async close() {
      await server.close();
      await paypal.close();
    },
  };
}
