/** Fills a JSON schema with an answer by matching field names. Unmatched fields get a minimal valid value. */
import type { Json } from '../protocols/protocol.ts';
import type { Answer } from './compose-answer.ts';

/** The first pattern that matches a field's name selects its value. */
const VALUE_BY_FIELD_NAME: readonly (readonly [RegExp, (answer: Answer) => Json])[] = [
  [/score/i, ({ score }) => score],
  [/missing/i, ({ missingFact }) => missingFact],
  [/cited|items|numbers/i, ({ cited }) => cited],
  [/wins|bullets|highlights/i, ({ wins }) => wins],
  [/feedback|analysis|summary|text/i, ({ text }) => text],
];

/** The JSON of feedback if the request asks for JSON without a schema. `freeFormReview` is the same for a review. */
export const freeFormFeedback = ({ score, text, cited, missingFact }: Answer): Json => ({
  score,
  feedback: text,
  cited,
  missingFact,
});
export const freeFormReview = ({ text, wins }: Answer): Json => ({ analysis: text, wins });

export const fitSchema = (schema: Json, answer: Answer): Json =>
  fit({ schema, root: schema, answer, given: undefined });

type FitInput = { schema: Json; root: Json; answer: Answer; given: Json };

function fit({ schema: rawSchema, root, answer, given }: FitInput): Json {
  const schema = resolveRef(rawSchema, root);
  const variants: Json[] | undefined = schema.anyOf ?? schema.oneOf;
  if (variants) {
    const isNull = (variant: Json): boolean => resolveRef(variant, root).type === 'null';
    if (given == null && variants.some(isNull)) return null;
    return fit({ schema: variants.find((variant) => !isNull(variant)), root, answer, given });
  }
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum.includes(given) ? given : schema.enum[0];
  const types: readonly string[] = [schema.type ?? 'object'].flat();
  if (given == null && types.includes('null')) return null;
  const type = types.find((name) => name !== 'null') ?? 'null';
  switch (type) {
    case 'object': {
      const fields = Object.entries<Json>(schema.properties ?? {});
      return Object.fromEntries(
        fields.map(([name, field]) => [
          name,
          fit({ schema: field, root, answer, given: valueOf(name, answer, given) }),
        ]),
      );
    }
    case 'array': {
      const minimal = Array.from({ length: schema.minItems ?? 0 }, () => undefined as Json);
      const values: Json[] = Array.isArray(given) && given.length >= minimal.length ? given : minimal;
      return values
        .slice(0, schema.maxItems ?? values.length)
        .map((value) => fit({ schema: schema.items ?? {}, root, answer, given: value }));
    }
    case 'integer':
    case 'number': {
      const number = typeof given === 'number' ? given : Number(/^\d+$/.exec(given ?? '')?.[0] ?? 0);
      return Math.min(Math.max(number, schema.minimum ?? number), schema.maximum ?? number);
    }
    case 'boolean':
      return given === true;
    default:
      return (typeof given === 'string' ? given : '').padEnd(schema.minLength ?? 0, '.').slice(0, schema.maxLength);
  }
}

function resolveRef(schema: Json, root: Json): Json {
  const path = /^#\/(.+)$/.exec(schema?.$ref ?? '')?.[1];
  if (path === undefined) return schema ?? {};
  return resolveRef(
    path.split('/').reduce((node: Json, key) => node?.[key], root),
    root,
  );
}

/** Inside a list, the element's own fields take precedence over the answer's. */
function valueOf(name: string, answer: Answer, element: Json): Json {
  if (typeof element === 'object' && element !== null && !Array.isArray(element) && name in element)
    return element[name];
  return VALUE_BY_FIELD_NAME.find(([pattern]) => pattern.test(name))?.[1](answer);
}
