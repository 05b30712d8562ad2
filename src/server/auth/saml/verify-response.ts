/** Verifies a response of an identity provider and returns its assertion (docs/specification/wire.md 29). */
import type { SAML } from '@node-saml/node-saml';
import { InvalidResponseError, inspectResponse, type ExpectedResponse } from './inspect-response.ts';
import { parseXml } from './parse-xml.ts';
import { readAssertion, type Assertion } from './read-assertion.ts';

/**
 * Throws an InvalidResponseError, whose message is for the log.
 *
 * @param serviceProvider used for this response alone, because its options are changed
 */
export async function verifyResponse(
  xml: string,
  serviceProvider: SAML,
  expected: ExpectedResponse,
): Promise<Assertion> {
  const { isResponseSigned } = inspectResponse(xml, expected);
  // If the response itself is signed, node-saml must verify that signature too.
  serviceProvider.options.wantAuthnResponseSigned = isResponseSigned;
  return readAssertion(parseXml(await verifySignature(xml, serviceProvider)), expected);
}

/** Returns the bytes of the assertion that the signature covers. */
async function verifySignature(xml: string, serviceProvider: SAML): Promise<string> {
  const result = await serviceProvider
    .validatePostResponseAsync({ SAMLResponse: Buffer.from(xml).toString('base64') })
    .catch((error: unknown) => {
      throw new InvalidResponseError(error instanceof Error ? error.message : 'not verified');
    });
  const signed = result.profile?.getAssertionXml?.();
  if (signed === undefined) throw new InvalidResponseError('the response has no signed assertion');
  return signed;
}
