/** RSA keys with a certificate, for both sides of SAML. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Both members are PEM. */
export type KeyPair = { privateKey: string; certificate: string };

/** Imports its library at the first call: a sandbox that has its keys never loads it. */
export async function newKeyPair(name: string, modulusLength = 2048): Promise<KeyPair> {
  await import('reflect-metadata');
  const { X509CertificateGenerator } = await import('@peculiar/x509');
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    publicExponent: new Uint8Array([1, 0, 1]),
    modulusLength,
  };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    notBefore: new Date('2026-01-01'),
    notAfter: new Date('2056-01-01'),
    signingAlgorithm: algorithm,
    keys,
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const privateKey = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
  return { privateKey, certificate: certificate.toString('pem') };
}

/** Reads the pair from a file, which the first call creates. */
export async function openKeyPair(file: string, name: string): Promise<KeyPair> {
  const stored = await readFile(file, 'utf8').catch(() => '');
  const [privateKey, certificate] = stored.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n?/g) ?? [];
  if (privateKey !== undefined && certificate !== undefined) return { privateKey, certificate };
  const created = await newKeyPair(name);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, `${created.privateKey}${created.certificate}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return created;
}
