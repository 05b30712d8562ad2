/** Makes compressed files in memory, of texts that are only known when the server starts. */
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { etagOf, type BuiltFile } from './built-files.ts';

const brotli = promisify(brotliCompress);

export async function compressFile(text: string, type: string): Promise<BuiltFile> {
  const body = Buffer.from(text);
  return { type, body, brotli: Buffer.from(await brotli(body)), etag: etagOf(body) };
}
