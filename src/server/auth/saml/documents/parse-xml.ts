/**
 * Parses SAML documents, which are small and use little of XML (docs/specification/wire.md 29).
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

/** The type lacks `strictEntities`, which leaves only the five entities of XML. */
const OPTIONS = { xmlns: true, strictEntities: true, position: false } as sax.SAXOptions;
const MAX_DEPTH = 50;
const MAX_ELEMENTS = 5_000;
/** Threat: sax compares each attribute with the others of its element, so 30,000 of them take a second. */
const MAX_ATTRIBUTES = 5_000;

/**
 * Finds document types, comments, CDATA sections and processing instructions without a parser: in a well-formed
 * document every raw `<` begins markup.
 */
const FORBIDDEN_MARKUP = /<!|<\?(?!xml[\s?])/i;

/** Throws an XmlError for forbidden markup and for too many attributes. */
function checkMarkup(text: string): void {
  if (FORBIDDEN_MARKUP.test(text.replace(/^\uFEFF/, ''))) throw new XmlError('the document has forbidden markup');
  if ((text.match(/=\s*["']/g)?.length ?? 0) > MAX_ATTRIBUTES) throw new XmlError('the document is too large');
}

/** Returns the root element. Throws an XmlError for a document that is malformed, forbidden, too deep or too large. */
export function parseXml(text: string): XmlElement {
  checkMarkup(text);
  const parser = sax.parser(true, OPTIONS);
  const open: XmlElement[] = [];
  let root = null as XmlElement | null;
  let count = 0;
  Object.assign(parser, {
    onopentag(tag: sax.QualifiedTag) {
      const element = toElement(tag);
      count += 1;
      if (open.length >= MAX_DEPTH || count > MAX_ELEMENTS) throw new XmlError('the document is too large');
      const parent = open.at(-1);
      if (parent) parent.children.push(element);
      else if (root) throw new XmlError('the document has a second root');
      else root = element;
      open.push(element);
    },
    onclosetag() {
      open.pop();
    },
    ontext(part: string) {
      const element = open.at(-1);
      if (element) element.text += part;
    },
    onerror() {
      throw new XmlError('the document is not well-formed');
    },
  });
  parser.write(text).close();
  if (!root) throw new XmlError('the document is empty');
  return root;
}

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
