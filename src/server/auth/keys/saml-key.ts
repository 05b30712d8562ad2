/** Loads the key that signs our authentication requests, and its certificate for the identity providers. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { UnusableKeyError } from './key-file.ts';

export type SamlKey = { readonly privateKey: string; readonly certificate: string };

const MIN_RSA_BITS = 2_048;

/** Throws an Error that names the setting and the file when the key cannot be used. */
export async function loadSamlKey(file: string): Promise<SamlKey> {
  const name = `The SAML key ${file} (AUTH_SAML_KEY_FILE)`;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${name} cannot be read (${error.code ?? error.message}).`, { cause: error });
  });
  try {
    return parseSamlKey(text);
  } catch (error) {
    const reason = error instanceof UnusableKeyError ? error.message : 'it is not PEM';
    // oxlint-disable-next-line preserve-caught-error -- a cause would be logged, and may quote the key
    throw new Error(`${name} cannot be used: ${reason}`);
  }
}

/** Reads a private RSA key and a certificate for it from one PEM file. */
export function parseSamlKey(text: string): SamlKey {
  const keyPem = /-----BEGIN (?:RSA )?PRIVATE KEY-----[^-]+-----END (?:RSA )?PRIVATE KEY-----/.exec(text)?.[0];
  if (keyPem === undefined) throw new UnusableKeyError('it holds no unencrypted private key');
  const certificatePem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text)?.[0];
  if (certificatePem === undefined) throw new UnusableKeyError('it holds no certificate');
  const privateKey = createPrivateKey(keyPem);
  if (!isStrongRsa(privateKey)) throw new UnusableKeyError('its key is not RSA with 2048 bits or more');
  const certificate = new X509Certificate(certificatePem);
  if (!certificate.checkPrivateKey(privateKey)) throw new UnusableKeyError('its certificate belongs to another key');
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: certificate.toString(),
  };
}

export const isStrongRsa = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
