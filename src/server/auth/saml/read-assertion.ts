/**
 * Reads the user from a signed assertion, and checks that it is meant for this sign-in (SAML 2.0 profiles, 4.1.4.3).
 * node-saml checks times, with the system's clock, and the audience. These checks are repeated here with the server's
 * clock, which tests move. An assertion without conditions, audience or end of its confirmation is refused too.
 */
import type { AssertionAttributes } from './attribute-mapping.ts';
import { InvalidResponseError, type ExpectedResponse } from './inspect-response.ts';
import { BEARER, childrenOf, SAML, type XmlElement } from './parse-xml.ts';

export type Assertion = {
  nameId: { value: string; format: string } | null;
  attributes: AssertionAttributes;
};

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
 * Null for a text that is too long, holds control characters (PostgreSQL stores no null character) or elements. Threat:
 * an element within a name splits it, so that a reader takes a part for the whole.
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
