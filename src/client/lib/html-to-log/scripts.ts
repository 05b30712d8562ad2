/** Writes superscripts, subscripts and formulas as plain text: 10⁶ is not 106. */

const pairs = (from: string, to: string): ReadonlyMap<string, string> => {
  const targets = Array.from(to);
  return new Map(Array.from(from, (character, index) => [character, targets[index]!]));
};

const SUPERSCRIPTS = pairs('0123456789+-−–=()abcdefghijklmnoprstuvwxyz', '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ');
const SUBSCRIPTS = pairs('0123456789+-−–=()aehijklmnoprstuvx', '₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ');

export type Script = 'sup' | 'sub';

const MAX_SCRIPT_LENGTH = 16;

/** Whether raised or lowered text belongs to a number or a formula. False for `st` of `1st`, `TM`, words and `[1]`. */
export function isFormulaScript(text: string): boolean {
  const script = text.trim();
  if (script.length > MAX_SCRIPT_LENGTH || /[[\]]|\p{L}{3}/u.test(script)) return false;
  return Array.from(script).length === 1 || /[\d+\-−=]/.test(script);
}

/** Replaces characters by Unicode's raised or lowered ones, where there are any. */
export function toScript(text: string, script: Script): string {
  const characters = script === 'sup' ? SUPERSCRIPTS : SUBSCRIPTS;
  return Array.from(text, (character) => characters.get(character) ?? character).join('');
}

const group = (text: string): string =>
  Array.from(text).length === 1 || /^[\p{L}\p{N}.,]*$/u.test(text) ? text : `(${text})`;

function attachScript(text: string, script: Script): string {
  const characters = script === 'sup' ? SUPERSCRIPTS : SUBSCRIPTS;
  if (Array.from(text).every((character) => characters.has(character))) return toScript(text, script);
  // A prime or the bar of an accent stands beside its letter.
  if (/^[^\p{L}\p{N}]$/u.test(text)) return text;
  return `${script === 'sup' ? '^' : '_'}${group(text)}`;
}

const FORMULA = /\b(?:katex|mwe-math-element|MathJax\w*|mjx-container|math-inline|math-display)\b/;

/** Maps each element that shows a formula, often in several forms, to its MathML, or else to MathJax's drawing. */
export function findFormulas(body: Element): ReadonlyMap<Element, Element> {
  const formulas = new Map<Element, Element>();
  for (const math of body.querySelectorAll('math')) {
    let outer: Element = math;
    for (let next = math.parentElement, steps = 0; next && steps < 4; next = next.parentElement, steps += 1)
      if (next.localName === 'mjx-container' || FORMULA.test(next.getAttribute('class') ?? '')) outer = next;
    formulas.set(outer, math);
  }
  for (const container of body.querySelectorAll('mjx-container')) {
    const drawn = container.querySelector('mjx-math, [data-mml-node="math"]');
    if (drawn && !formulas.has(container)) formulas.set(container, drawn);
  }
  return formulas;
}

/** Elements around the parts of a formula that MathJax draws (`WRAPPER`), and the lines and spaces beside them. */
const WRAPPER = /^mjx-(?:frac|dbox|dtable|row|sqrt|table|itable|script)$/;
const ORNAMENT = /^(?:mjx-(?:[dnt]strut|line|spacer|surd)|rect)$/;

const isDrawn = ({ localName }: Element): boolean => localName.startsWith('mjx-') || localName === 'g';

/** The parts of an element in the order of MathML: a subscript or lower limit comes before what stands above it. */
function partsOf(element: Element): Element[] {
  if (!isDrawn(element)) return [...element.children];
  const parts = [...element.children]
    .flatMap((child) => (WRAPPER.test(child.localName) ? partsOf(child) : [child]))
    .filter(({ localName }) => !ORNAMENT.test(localName));
  const name = nameOf(element);
  // MathJax draws the sign of a root in SVG as the last child.
  if (element.localName === 'g' && /^m(?:sqrt|root)$/.test(name)) parts.pop();
  const isAbove = /^mjx-(?:over|root)$/.test(parts[0]?.localName ?? '');
  if (isAbove) parts.push(parts.shift()!);
  else if (parts.length === 3 && /^m(?:subsup|underover)$/.test(name) && heightOf(parts[2]!) <= heightOf(parts[1]!))
    parts.push(parts.splice(1, 1)[0]!);
  return parts;
}

/** The vertical position of a part in SVG; 0 for every part in HTML, which has no transform. */
const heightOf = (part: Element): number =>
  Number(/,\s*(-?[\d.]+)\)/.exec(part.getAttribute('transform') ?? '')?.[1] ?? 0);

const nameOf = (element: Element): string =>
  element.getAttribute('data-mml-node') ?? element.localName.replace(/^mjx-/, '');

const GLYPH = /\bmjx-c([\dA-F]{2,5})\b/;
/** From this code point on, Unicode has the letters of mathematical alphabets. */
const FIRST_STYLED_LETTER = 0x1_d4_00;

/** The character that MathJax draws; null for other elements. */
function glyphOf(element: Element): string | null {
  const code = element.getAttribute('data-c') ?? GLYPH.exec(element.getAttribute('class') ?? '')?.[1];
  if (code === undefined || !/^[\dA-F]{2,5}$/.test(code)) return null;
  const point = Number.parseInt(code, 16);
  const glyph = String.fromCodePoint(point);
  return point < FIRST_STYLED_LETTER ? glyph.replace('\u00A0', ' ') : glyph.normalize('NFKC');
}

/** A formula as one line: `x²`, `a/b`, `√(x+1)`. */
export function mathText(element: Element): string {
  const glyph = glyphOf(element);
  if (glyph !== null) return glyph;
  const children = partsOf(element).map((child) => () => mathText(child));
  const child = (index: number): string => children[index]?.() ?? '';
  const all = (separator = ''): string => children.map((read) => read()).join(separator);
  switch (nameOf(element)) {
    case 'annotation':
    case 'annotation-xml':
    case 'mphantom':
      return '';
    case 'semantics':
      return child(0);
    case 'mspace':
      return ' ';
    case 'mfrac':
      return `${group(child(0))}/${group(child(1))}`;
    case 'msqrt':
      return `√${group(all())}`;
    case 'mroot':
      return `${toScript(child(1), 'sup')}√${group(child(0))}`;
    case 'msup':
    case 'mover':
      return child(0) + attachScript(child(1), 'sup');
    case 'msub':
    case 'munder':
      return child(0) + attachScript(child(1), 'sub');
    case 'msubsup':
    case 'munderover':
      // MathJax may draw the lower part together with the base, so that two children remain.
      if (children.length === 2) return child(0) + attachScript(child(1), 'sup');
      return child(0) + attachScript(child(1), 'sub') + attachScript(child(2), 'sup');
    case 'mtable':
      return all('; ');
    case 'mtr':
      return all(', ');
    case 'mfenced':
      return `${element.getAttribute('open') ?? '('}${all(', ')}${element.getAttribute('close') ?? ')'}`;
    default:
      return children.length > 0 ? all() : element.textContent.trim().replace(/[\u2061-\u2064]/g, '');
  }
}
