/**
 * The baseline of `requests.ts`: node:http and pg without a framework. Verifies an HS256 token, sends the product's
 * statement with the product's row-level-security preamble in one round trip, and returns PostgreSQL's answer.
 * Runs as a separate process with DATABASE_URL, PORT, TOKEN_SECRET and STATEMENTS (JSON) in its environment.
 */
import { createServer } from 'node:http';
import { jwtVerify } from 'jose';
import pg from 'pg';
import { requestConnection } from '#server/database/roles.ts';
import { RlsQuery } from '#server/database/rls-query.ts';
import { valueTypes } from '#server/database/tables.ts';

const { DATABASE_URL = '', PORT = '', TOKEN_SECRET = '', STATEMENTS = '{}' } = process.env;
const secret = new TextEncoder().encode(TOKEN_SECRET);
const statements = JSON.parse(STATEMENTS) as Record<'read' | 'list' | 'save', string>;
const types = valueTypes();
const pool = new pg.Pool({ ...requestConnection(DATABASE_URL), max: 16, types });

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    answer(request.headers.authorization ?? '', request.url ?? '', Buffer.concat(chunks)).then(
      (body) => response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
}).listen(Number(PORT), '127.0.0.1');

/** `/read?user&day`, `/list?user`, `/save?user&day` with `{ content }`. */
async function answer(authorization: string, url: string, body: Buffer): Promise<string> {
  const { payload } = await jwtVerify(authorization.slice('Bearer '.length), secret, { algorithms: ['HS256'] });
  const [path = '', search] = url.split('?');
  const query = new URLSearchParams(search);
  const values: unknown[] = [query.get('user')];
  if (query.has('day')) values.push(query.get('day'));
  if (path === '/save') values.unshift((JSON.parse(body.toString('utf8')) as { content: string }).content);
  const identity = { role: 'authenticated', claimsJson: JSON.stringify(payload) } as const;
  const client = await pool.connect();
  try {
    const text = statements[path.slice(1) as keyof typeof statements];
    const { rows } = await client.query(new RlsQuery(identity, text, values, types)).done;
    const { body: json, item } = rows[0] as { body?: string; item?: string };
    return json ?? `[${item}]`;
  } finally {
    client.release();
  }
}

process.on('SIGTERM', () => process.exit(0));
