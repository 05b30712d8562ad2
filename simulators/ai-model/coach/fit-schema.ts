/** Puts an answer into the JSON that a schema asks for, by the names of its fields; what has no counterpart gets the least that is valid. */
import type { Json } from '../wires/wire.ts';
import type { Answer } from './answer.ts';

/** The first that fits the beginning of a field's name gives its value. */
const NAMES: readonly (readonly [RegExp, (answer: Answer) => Json])[] = [
  [/score/i, ({ score }) => score],
  [/missing/i, ({ missingFact }) => missingFact],
  [/cited|items|numbers/i, ({ cited }) => cited],
  [/wins|bullets|highlights/i, ({ wins }) => wins],
  [/feedback|analysis|summary|text/i, ({ text }) => text],
];

/** For a model that is asked for JSON and given no schema. */
export const anyFeedback = ({ score, text, cited, missingFact }: Answer): Json => ({
  score,
  feedback: text,
  cited,
  missingFact,
});
export const anyReview = ({ text, wins }: Answer): Json => ({ analysis: text, wins });

export const fitSchema = (schema: Json, answer: Answer): Json =>
  fit({ schema, root: schema, answer, given: undefined });

type Fitting = { schema: Json; root: Json; answer: Answer; given: Json };

function fit({ schema: asked, root, answer, given }: Fitting): Json {
  const schema = resolved(asked, root);
  const ways: Json[] | undefined = schema.anyOf ?? schema.oneOf;
  if (ways) {
    const isNull = (way: Json): boolean => resolved(way, root).type === 'null';
    const nothing = given == null && ways.some(isNull);
    return nothing ? null : fit({ schema: ways.find((way) => !isNull(way)), root, answer, given });
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
      const least = Array.from({ length: schema.minItems ?? 0 }, () => undefined as Json);
      const values: Json[] = Array.isArray(given) && given.length >= least.length ? given : least;
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

function resolved(schema: Json, root: Json): Json {
  const path = /^#\/(.+)$/.exec(schema?.$ref ?? '')?.[1];
  if (path === undefined) return schema ?? {};
  return resolved(
    path.split('/').reduce((at: Json, step) => at?.[step], root),
    root,
  );
}

/** A field of a list's element is looked for in the element first. */
function valueOf(name: string, answer: Answer, element: Json): Json {
  if (typeof element === 'object' && element !== null && !Array.isArray(element) && name in element)
    return element[name];
  return NAMES.find(([pattern]) => pattern.test(name))?.[1](answer);
}
