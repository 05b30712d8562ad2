/** Runs single checks of the doctor. */
import { inspectConfig, type Config } from '#server/config/config.ts';
import { runChecks, type Check, type Finding } from '#server/doctor/check.ts';
import { freePort } from '#server/database/embedded/endpoint.ts';
import { startStubServer, type StubHandler } from '../stub-server.ts';

/** Unset settings have their defaults. */
export const configOf = (env: Record<string, string>): Config => inspectConfig(env).config;

export const run = async (check: Check): Promise<Finding[]> => (await runChecks([check]))[0]!.findings;

/** One line a finding, such as `fault the disk is full`. */
export const lines = (findings: readonly Finding[]): string[] =>
  findings.map(({ status, text }) => `${status} ${text}`);

/** An address where nothing listens. */
export const unreachableUrl = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

export async function withStub<T>(handler: StubHandler, work: (url: string) => Promise<T>): Promise<T> {
  const stub = await startStubServer(handler);
  try {
    return await work(stub.url);
  } finally {
    await stub.close();
  }
}
