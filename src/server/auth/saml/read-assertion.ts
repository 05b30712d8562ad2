/**
 * Reads the user from a signed assertion, and checks that it is meant for this sign-in (SAML 2.0 profiles, 4.1.4.3).
 * node-saml checks times, with the system's clock, and the audience. These checks are repeated here with the server's
 * clock, which tests move. An assertion without conditions, audience or end of its confirmation is refused too.
 */
import type { AssertionAttributes } from './sso-providers.ts';
import {
  BEARER,
  childrenOf,
  SAML,
  DSIG,
  SAMLP,
  SUCCESS,
  XmlError,
  descendants,
  parseXml,
  type XmlElement,
} from './parse-xml.ts';

export type Assertion = { nameId: { value: string; format: string } | null; attributes: AssertionAttributes };

/** The accepted difference between the identity provider's clock and ours. */
export const CLOCK_SKEW_MS = 60_000;
const MAX_TEXT_LENGTH = 1_024;

const fail = (reason: string): never => {
  throw new InvalidResponseError(reason);
};

/** Throws an InvalidResponseError. @param assertion parsed from the bytes that the signature covers */
export function readAssertion(assertion: XmlElement, expected: ExpectedResponse): Assertion {
  if (assertion.namespace !== SAML || assertion.name !== 'Assertion') fail('the signature covers no assertion');
  if (onlyChild(assertion, 'Issuer').text.trim() !== expected.idpEntityId) fail('the assertion has another issuer');
  checkTimes(assertion, expected.now, { startName: 'IssueInstant' });
  const subject = onlyChild(assertion, 'Subject');
  checkConfirmation(subject, expected);
  checkConditions(onlyChild(assertion, 'Conditions'), expected);
  const statements = childrenOf(assertion, SAML, 'AuthnStatement');
  if (statements.length === 0) fail('the assertion has no authentication statement');
  for (const statement of statements) checkTimes(statement, expected.now, { endName: 'SessionNotOnOrAfter' });
  return { nameId: readNameId(subject), attributes: readAttributes(assertion) };
}

function onlyChild(parent: XmlElement, name: string): XmlElement {
  const [child, second] = childrenOf(parent, SAML, name);
  return child && !second ? child : fail(`${parent.name} does not have one ${name}`);
}

type TimeNames = { startName?: string; endName?: string };

/** An absent time limits nothing. */
function checkTimes({ attributes, name }: XmlElement, now: Date, names: TimeNames): void {
  const read = (attribute: string | undefined): number | null => {
    const text = attribute === undefined ? undefined : attributes.get(attribute);
    if (text === undefined) return null;
    const time = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(time) ? fail(`a time of ${name} is not valid`) : time;
  };
  const [start, end] = [read(names.startName ?? 'NotBefore'), read(names.endName ?? 'NotOnOrAfter')];
  if (start !== null && now.getTime() + CLOCK_SKEW_MS < start) fail(`${name} is not valid yet`);
  if (end !== null && now.getTime() - CLOCK_SKEW_MS >= end) fail(`${name} has expired`);
}

/** Threat: somebody who received an assertion for another service or another sign-in sends it here. */
function checkConfirmation(subject: XmlElement, { acsUrl, requestId, now }: ExpectedResponse): void {
  const confirmations = childrenOf(subject, SAML, 'SubjectConfirmation').filter(
    ({ attributes }) => attributes.get('Method') === BEARER,
  );
  const data = confirmations.map((confirmation) => onlyChild(confirmation, 'SubjectConfirmationData'));
  const ours = data.find(({ attributes }) => attributes.get('Recipient') === acsUrl);
  if (!ours) return fail('the assertion is for another recipient');
  if (ours.attributes.get('InResponseTo') !== requestId) fail('the assertion belongs to another request');
  if (!ours.attributes.has('NotOnOrAfter')) fail('the confirmation has no end');
  checkTimes(ours, now, {});
}

function checkConditions(conditions: XmlElement, { entityId, now }: ExpectedResponse): void {
  checkTimes(conditions, now, {});
  const restrictions = childrenOf(conditions, SAML, 'AudienceRestriction');
  const isForUs = restrictions.every((restriction) =>
    childrenOf(restriction, SAML, 'Audience').some(({ text }) => text.trim() === entityId),
  );
  if (restrictions.length === 0 || !isForUs) fail('the assertion is for another audience');
}

function readNameId(subject: XmlElement): Assertion['nameId'] {
  const [nameId, second] = childrenOf(subject, SAML, 'NameID');
  if (!nameId) return null;
  if (second) fail('the subject has two names');
  const value = readText(nameId) ?? fail('the name is not plain text');
  return { value, format: nameId.attributes.get('Format') ?? '' };
}

/**
 * Null for a text that is too long, or holds elements, lone surrogates or control characters (PostgreSQL stores no null
 * character). Threat: an element within a name splits it, so that a reader takes a part for the whole.
 */
function readText(element: XmlElement): string | null {
  const value = element.text.trim();
  const isPlain = element.children.length === 0 && value.length <= MAX_TEXT_LENGTH && value.isWellFormed();
  // oxlint-disable-next-line no-control-regex -- see above
  return isPlain && !/[\0-\x1f\x7f]/.test(value) ? value : null;
}

function readAttributes(assertion: XmlElement): AssertionAttributes {
  const attributes = new Map<string, string[]>();
  const list = childrenOf(assertion, SAML, 'AttributeStatement').flatMap((statement) =>
    childrenOf(statement, SAML, 'Attribute'),
  );
  for (const attribute of list) {
    const values = childrenOf(attribute, SAML, 'AttributeValue')
      .map(readText)
      .filter((value) => value !== null);
    const names = new Set([attribute.attributes.get('Name'), attribute.attributes.get('FriendlyName')]);
    for (const name of names) {
      if (name !== undefined) attributes.set(name, [...(attributes.get(name) ?? []), ...values]);
    }
  }
  return attributes;
}

// Checks the structure of a response before its signature is verified (docs/specification/api.md 29).
//
// Threat: XML signature wrapping. An attacker moves a signed assertion to a place that the verifier finds and puts a
// forged one where the reader looks. node-saml returns the bytes that the signature covers, and the sign-in reads only
// those. In addition, these checks refuse responses whose shape leaves room for two readings.

/** The message is for the log, not for the client. */
export class InvalidResponseError extends Error {}

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

/**
 * Throws unless the whole document has one response and one assertion, which is a child of the response and not
 * encrypted, and all ids are unique.
 */
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

/**
 * Throws unless each signature is a child of the response or the assertion, uses only ALGORITHMS and holds no object.
 */
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
