/**
 * Checks the structure of a response before its signature is verified (docs/specification/api.md 29).
 *
 * Threat: XML signature wrapping. An attacker moves a signed assertion to a place that the verifier finds and puts a
 * forged one where the reader looks. node-saml returns the bytes that the signature covers, and the sign-in reads only
 * those. In addition, this module refuses any response whose shape leaves room for two readings.
 */
import {
  DSIG,
  SAML,
  SAMLP,
  SUCCESS,
  XmlError,
  childrenOf,
  descendants,
  parseXml,
  type XmlElement,
} from './parse-xml.ts';

/** The message is for the log, not for the client. */
export class InvalidResponseError extends Error {}

const fail = (reason: string): never => {
  throw new InvalidResponseError(reason);
};

export type ExpectedResponse = { requestId: string; acsUrl: string; entityId: string; idpEntityId: string; now: Date };

/** Throws an InvalidResponseError. Returns whether the response carries a signature beside the assertion's. */
export function inspectResponse(xml: string, expected: ExpectedResponse): { isResponseSigned: boolean } {
  const root = parseDocument(xml);
  if (root.namespace !== SAMLP || root.name !== 'Response') fail('the document is no response');
  const { attributes } = root;
  if (attributes.get('InResponseTo') !== expected.requestId) fail('the response belongs to another request');
  const destination = attributes.get('Destination');
  if (destination !== undefined && destination !== expected.acsUrl) fail('the response is for another address');
  const issuers = childrenOf(root, SAML, 'Issuer');
  if (issuers.some(({ text }) => text.trim() !== expected.idpEntityId)) fail('the response has another issuer');
  checkStatus(root);
  checkAssertion(root);
  checkSignatures(root);
  return { isResponseSigned: childrenOf(root, DSIG, 'Signature').length > 0 };
}

function parseDocument(xml: string): XmlElement {
  try {
    return parseXml(xml);
  } catch (error) {
    if (error instanceof XmlError) return fail(error.message);
    throw error;
  }
}

function checkStatus(root: XmlElement): void {
  const [status, second] = childrenOf(root, SAMLP, 'Status');
  const code = status && childrenOf(status, SAMLP, 'StatusCode')[0]?.attributes.get('Value');
  if (code !== SUCCESS || second) fail(`the status is ${code?.slice(0, 100) ?? 'missing'}`);
}

/** Throws unless the whole document has one assertion, which is a child of the response. */
function checkAssertion(root: XmlElement): void {
  const all = [...descendants(root)];
  if (all.some(({ name }) => name === 'EncryptedAssertion')) fail('the assertion is encrypted');
  const assertions = all.filter(({ name }) => name === 'Assertion');
  if (assertions.length !== 1) fail('the response does not hold one assertion');
  if (childrenOf(root, SAML, 'Assertion')[0] !== assertions[0]) fail('the assertion is not in its place');
  if (all.filter(({ name }) => name === 'Response').length !== 1) fail('the document holds a second response');
  const ids = all.flatMap(({ attributes }) => ['ID', 'Id', 'id'].flatMap((name) => attributes.get(name) ?? []));
  if (new Set(ids).size !== ids.length) fail('an id is not unique');
}

const ALGORITHMS: ReadonlySet<string> = new Set([
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
]);

/** Throws unless each signature is a child of the response or the assertion and uses only ALGORITHMS. */
function checkSignatures(root: XmlElement): void {
  const [assertion] = childrenOf(root, SAML, 'Assertion');
  const signatures = [root, assertion!].flatMap((parent) => childrenOf(parent, DSIG, 'Signature'));
  const all = [...descendants(root)].filter(({ name }) => name === 'Signature');
  if (all.length !== signatures.length) fail('a signature is not in its place');
  for (const element of signatures.flatMap((signature) => [...descendants(signature)])) {
    const algorithm = element.attributes.get('Algorithm');
    if (algorithm !== undefined && !ALGORITHMS.has(algorithm))
      fail(`the algorithm ${algorithm.slice(0, 100)} is not allowed`);
    if (element.name === 'Object') fail('a signature holds an object');
  }
}
