import { isSame } from './fits-schema.ts';
import { asList, isRecord, type Json, type SchemaObject, SchemaRefused } from './json-schema.ts';

const larger = (a: Json, b: Json): Json | undefined => (typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : undefined);
const smaller = (a: Json, b: Json): Json | undefined => (typeof a === 'number' && typeof b === 'number' ? Math.min(a, b) : undefined);

const mergeProperties = (a: Json, b: Json): Json | undefined => {
  if (!isRecord(a) || !isRecord(b)) return undefined;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    [...names].map((name) => {
      const found = [a, b].filter((properties) => Object.hasOwn(properties, name)).map((properties) => properties[name] ?? true);
      return [name, found.length === 1 ? (found[0] ?? true) : { allOf: found }];
    }),
  );
};

// Every integer is also a number.
const commonTypes = (a: Json, b: Json): Json | undefined => {
  const names = (type: Json) => (Array.isArray(type) ? type : [type]);
  const accepts = (type: Json, name: Json) => names(type).includes(name) || (name === 'integer' && names(type).includes('number'));
  const common = [...new Set([...names(a), ...names(b)])].filter((name) => accepts(a, name) && accepts(b, name));
  return common.length > 0 ? common : undefined;
};

// Both values of a keyword hold after the merge; later annotations win.
const MERGES: ReadonlyMap<string, (a: Json, b: Json) => Json | undefined> = new Map([
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].map((keyword) => [keyword, larger] as const),
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].map((keyword) => [keyword, smaller] as const),
  ['required', (a, b) => [...new Set([...asList(a), ...asList(b)])]],
  ['enum', (a, b) => asList(a).filter((one) => asList(b).some((other) => isSame(one, other)))],
  ['properties', mergeProperties],
  ['type', commonTypes],
  ...['title', 'description', '$comment', 'default', 'examples', '$id', '$schema', '$defs', 'definitions'].map(
    (keyword) => [keyword, (_: Json, b: Json) => b] as const,
  ),
]);

/**
 * Returns one schema for schemas that must all hold. Throws `SchemaRefused` if they have conflicting values for a
 * keyword.
 */
export const mergeSchemas = (schemas: readonly SchemaObject[]): SchemaObject => {
  const merged: { [keyword: string]: Json } = {};
  for (const [keyword, value] of schemas.flatMap((schema) => Object.entries(schema))) {
    const earlier = merged[keyword];
    const both = earlier === undefined || isSame(earlier, value) ? value : MERGES.get(keyword)?.(earlier, value);
    if (both === undefined) throw new SchemaRefused(`the schemas in 'allOf' have conflicting values for '${keyword}'.`);
    merged[keyword] = both;
  }
  return merged;
};
