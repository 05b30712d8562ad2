/** Reverse proxy from `/sandbox` to the simulators' process, so the server and the simulators share one origin. */
import type { Handler } from 'hono';
import { proxy } from 'hono/proxy';
import type { AppEnv } from './app-env.ts';
import { errorResponse } from './error-response.ts';

/** @param baseUrl where the simulators listen, for example `http://127.0.0.1:40000` */
export function sandboxForward(baseUrl: string): Handler<AppEnv> {
  return async (context) => {
    const url = new URL(context.req.url);
    try {
      return await proxy(`${baseUrl}${url.pathname}${url.search}`, {
        raw: context.req.raw,
        headers: { ...context.req.header(), host: undefined },
        redirect: 'manual',
      });
    } catch {
      return errorResponse(context, 'sandbox_unreachable');
    }
  };
}
