/** Writes superscripts, subscripts and formulas as plain text: 10⁶ is not 106. */

const pairs = (from: string, to: string): ReadonlyMap<string, string> => {
  const targets = Array.from(to);
  return new Map(Array.from(from, (character, index) => [character, targets[index]!]));
};

const SUPERSCRIPTS = pairs('0123456789+-−–=()abcdefghijklmnoprstuvwxyz', '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ');
const SUBSCRIPTS = pairs('0123456789+-−–=()aehijklmnoprstuvx', '₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ');

export type Script = 'sup' | 'sub';

const MAX_SCRIPT_LENGTH = 16;

/** Whether raised or lowered text belongs to a number or a formula. False for `1st`, `TM`, words and a footnote's `[1]`. */
export function isFormulaScript(text: string): boolean {
  const script = text.trim();
  if (script.length > MAX_SCRIPT_LENGTH || /[[\]]|\p{L}{3}/u.test(script)) return false;
  return Array.from(script).length === 1 || /[\d+\-−=]/.test(script);
}

/** With Unicode's raised or lowered characters, where there are any. */
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

/** The elements that show a formula, often more than once, and its MathML. */
export function findFormulas(body: Element): ReadonlyMap<Element, Element> {
  const formulas = new Map<Element, Element>();
  for (const math of body.querySelectorAll('math')) {
    let outer: Element = math;
    for (let next = math.parentElement, steps = 0; next && steps < 4; next = next.parentElement, steps += 1)
      if (next.localName === 'mjx-container' || FORMULA.test(next.getAttribute('class') ?? '')) outer = next;
    formulas.set(outer, math);
  }
  return formulas;
}

/** A MathML element as one line: `x²`, `a/b`, `√(x+1)`. */
export function mathText(element: Element): string {
  const children = [...element.children].map((child) => () => mathText(child));
  const child = (index: number): string => children[index]?.() ?? '';
  const all = (separator = ''): string => children.map((read) => read()).join(separator);
  switch (element.localName) {
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
