/**
 * The wallets of the sandbox: their keys, and the script that puts them into the product's pages, as a browser's
 * extensions would (page-script.js).
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { Hono } from 'hono';
import * as Address from 'ox/Address';
import * as Hex from 'ox/Hex';
import * as PersonalMessage from 'ox/PersonalMessage';
import * as Secp256k1 from 'ox/Secp256k1';
import * as Signature from 'ox/Signature';

/** The script that the sandbox adds to the product's pages: it simulates the wallets and the browser's push service. */
const PAGE_SCRIPT = ['page-script.js', '../push/page-script.js']
  .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
  .join('\n');

/** Settings for the product. */
export const WALLET_SETTINGS = { AUTH_ETHEREUM: 'on', AUTH_SOLANA: 'on' } as const;

type Wallet = { address: string; sign: (message: Uint8Array) => Uint8Array };

/**
 * An app to mount into another server at its root.
 *
 * @param keyFile keeps the keys, because the product keeps the accounts of these wallets; without it, each start makes
 * new keys
 */
export async function createWalletsApp(keyFile?: string): Promise<Hono> {
  const seed = keyFile === undefined ? randomBytes(64) : await openSeed(keyFile);
  const wallets: Readonly<Record<string, Wallet>> = {
    ethereum: ethereumWallet(Hex.fromBytes(seed.subarray(0, 32))),
    solana: solanaWallet(seed.subarray(32)),
  };
  const app = new Hono();
  app.get('/sandbox/page.js', (context) =>
    context.body(PAGE_SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8', 'Cache-Control': 'no-cache' }),
  );
  app.get('/sandbox/wallets/:chain', (context) => {
    const wallet = wallets[context.req.param('chain')];
    return wallet ? context.json({ address: wallet.address }) : context.notFound();
  });
  app.post('/sandbox/wallets/:chain/sign', async (context) => {
    const wallet = wallets[context.req.param('chain')];
    if (!wallet) return context.notFound();
    const { message } = await context.req.json<{ message: Hex.Hex }>();
    return context.json({ signature: Hex.fromBytes(wallet.sign(Hex.toBytes(message))) });
  });
  return app;
}

function ethereumWallet(privateKey: Hex.Hex): Wallet {
  return {
    address: Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey }), { checksum: true }),
    sign(message) {
      const payload = PersonalMessage.getSignPayload(Hex.fromBytes(message));
      return Signature.toBytes(Secp256k1.sign({ payload, privateKey }));
    },
  };
}

const solanaWallet = (secretKey: Uint8Array): Wallet => ({
  address: base58.encode(ed25519.getPublicKey(secretKey)),
  sign: (message) => ed25519.sign(message, secretKey),
});

/**
 * Threat: if all installations had the same keys, anyone could sign in to these accounts once the database serves real
 * users. So the first start creates random keys.
 */
async function openSeed(file: string): Promise<Buffer> {
  const stored = await readFile(file).catch(() => null);
  if (stored?.length === 64) return stored;
  const created = randomBytes(64);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, created, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return created;
}
