/**
 * Parses SAML documents, which are small and use little of XML (docs/specification/api.md 29).
 *
 * Threat: entity expansion, external entities and comments that split a name. Document types, comments, CDATA sections
 * and processing instructions are refused by their first characters, before any parser reads the text.
 */
import sax from 'sax';

export class XmlError extends Error {}

export type XmlElement = {
  namespace: string;
  /** Without prefix. */
  name: string;
  /** Attributes without a namespace. */
  attributes: ReadonlyMap<string, string>;
  children: XmlElement[];
  /** The text of the element itself, without its children's. */
  text: string;
};

/** `strictEntities` allows only the five entities of XML. The library's type lacks this option. */
const OPTIONS = { xmlns: true, strictEntities: true, position: false } as sax.SAXOptions;
const MAX_DEPTH = 50;
/**
 * The limits for one document. A user in 300 groups, each with a type and two namespaces as attributes, stays below.
 */
const MAX_ELEMENTS = 1_000;
const MAX_ATTRIBUTES = 1_000;
/**
 * In scope of one element. Threat: sax, and the canonicalisation of a signature, go through all namespaces in scope for
 * each element: 98 KB with 4,900 elements and namespaces took 11 seconds. A limit for the whole document would refuse
 * providers that declare two namespaces for each value.
 */
const MAX_NAMESPACES = 64;

/**
 * Finds document types, comments, CDATA sections and processing instructions without a parser: in a well-formed
 * document every raw `<` begins markup.
 */
const FORBIDDEN_MARKUP = /<!|<\?(?!xml[\s?])/i;

/** Throws an XmlError for forbidden markup, and for too many elements or attributes. */
function checkMarkup(text: string): void {
  if (FORBIDDEN_MARKUP.test(text.replace(/^\uFEFF/, ''))) throw new XmlError('the document has forbidden markup');
  if (count(text, /<[^/?]/g) > MAX_ELEMENTS) throw new XmlError('the document has too many elements');
  if (count(text, /=\s*["']/g) > MAX_ATTRIBUTES) throw new XmlError('the document has too many attributes');
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** Returns the root element. Throws an XmlError for a document that is malformed, forbidden, too deep or too large. */
export function parseXml(text: string): XmlElement {
  checkMarkup(text);
  const parser = sax.parser(true, OPTIONS);
  const open: { element: XmlElement; namespaces: number }[] = [];
  let root = null as XmlElement | null;
  Object.assign(parser, {
    onopentag(tag: sax.QualifiedTag) {
      const element = toElement(tag);
      const parent = open.at(-1);
      const namespaces = (parent?.namespaces ?? 0) + Object.values(tag.attributes).filter(isNamespace).length;
      if (open.length >= MAX_DEPTH) throw new XmlError('the document is nested too deeply');
      if (namespaces > MAX_NAMESPACES) throw new XmlError('the document has too many namespaces');
      if (parent) parent.element.children.push(element);
      else if (root) throw new XmlError('the document has a second root');
      else root = element;
      open.push({ element, namespaces });
    },
    onclosetag() {
      open.pop();
    },
    ontext(part: string) {
      const innermost = open.at(-1);
      if (innermost) innermost.element.text += part;
    },
    onerror() {
      throw new XmlError('the document is not well-formed');
    },
  });
  parser.write(text).close();
  if (!root) throw new XmlError('the document is empty');
  return root;
}

const isNamespace = ({ prefix, name }: sax.QualifiedAttribute): boolean => prefix === 'xmlns' || name === 'xmlns';

function toElement({ uri, local, attributes }: sax.QualifiedTag): XmlElement {
  const plain = Object.values(attributes).filter(({ prefix, name }) => prefix === '' && name !== 'xmlns');
  return {
    namespace: uri,
    name: local,
    attributes: new Map(plain.map(({ name, value }) => [name, value])),
    children: [],
    text: '',
  };
}

export const childrenOf = (element: XmlElement, namespace: string, name: string): XmlElement[] =>
  element.children.filter((child) => child.namespace === namespace && child.name === name);

/** The element and all elements below it. */
export function* descendants(element: XmlElement): Generator<XmlElement> {
  yield element;
  for (const child of element.children) yield* descendants(child);
}

/** Names of SAML 2.0 and XML Signature. */
export const SAML = 'urn:oasis:names:tc:SAML:2.0:assertion';
export const SAMLP = 'urn:oasis:names:tc:SAML:2.0:protocol';
export const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata';
export const DSIG = 'http://www.w3.org/2000/09/xmldsig#';

export const HTTP_REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
export const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
export const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
