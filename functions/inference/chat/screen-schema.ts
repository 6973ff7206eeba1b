import { InvalidSchema, isSchemaObject, type SchemaObject } from '../json-schema/schema-fault.ts';
import { resolveReference } from '../json-schema/schema-reference.ts';
import { grammarFault } from './schema-grammar.ts';

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
const MAX_PROPERTIES = 5_000;

// The keywords with a schema, a list of schemas, and schemas by name.
const SINGLE = [
  ...['items', 'additionalItems', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties', 'contains'],
  ...['propertyNames', 'not', 'if', 'then', 'else', 'contentSchema'],
];
const LISTS = ['prefixItems', 'anyOf', 'oneOf', 'allOf'];
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

type Placed = readonly [schema: unknown, place: string];

const inList = (list: readonly unknown[], place: string): Placed[] => list.map((schema, i) => [schema, `${place}[${i}]`]);

const partsOf = (schema: SchemaObject, place: string): Placed[] => {
  const at = (keyword: string): string => `${place}.${keyword}`;
  const parts: Placed[] = [];
  for (const keyword of SINGLE) {
    const part = schema[keyword];
    // Before JSON Schema 2020-12, `items` could be a list.
    if (Array.isArray(part)) parts.push(...inList(part, at(keyword)));
    else if (part !== undefined) parts.push([part, at(keyword)]);
  }
  for (const keyword of LISTS) {
    const list = schema[keyword];
    if (Array.isArray(list)) parts.push(...inList(list, at(keyword)));
    else if (list !== undefined) throw new InvalidSchema(at(keyword), 'expected an array of schemas');
  }
  for (const keyword of MAPS) {
    const map = schema[keyword];
    if (isSchemaObject(map)) for (const [name, part] of Object.entries(map)) parts.push([part, `${at(keyword)}.${name}`]);
    else if (map !== undefined) throw new InvalidSchema(at(keyword), 'expected an object of schemas');
  }
  return parts;
};

const checkType = ({ type }: SchemaObject, place: string): void => {
  if (type !== undefined && !(Array.isArray(type) ? type : [type]).every((one) => TYPES.has(one)))
    throw new InvalidSchema(`${place}.type`, "expected a type of JSON Schema, such as 'string', or an array of types");
};

const createScreening = (root: unknown, base: string, isStrict: boolean) => {
  // The levels of schemas that are screened, and those that contain the one being screened.
  const levels = new Map<object, number>();
  const open = new Set<object>();
  let properties = 0;

  const checkKeywords = (schema: SchemaObject, place: string): void => {
    checkType(schema, place);
    if (schema.$dynamicRef !== undefined) throw new InvalidSchema(`${place}.$dynamicRef`, 'expected $ref instead');
    properties += isSchemaObject(schema.properties) ? Object.keys(schema.properties).length : 0;
    if (properties > MAX_PROPERTIES) throw new InvalidSchema(place, `expected at most ${MAX_PROPERTIES} properties in the whole schema`);
    const fault = isStrict ? grammarFault(schema) : undefined;
    if (fault) throw new InvalidSchema(`${place}.${fault.keyword}`, fault.reason);
  };

  const levelsOf = (schema: unknown, place: string, depth: number, reference = place): number => {
    if (typeof schema === 'boolean') return 1;
    if (!isSchemaObject(schema)) throw new InvalidSchema(place, 'expected a JSON Schema: an object, true or false');
    if (open.has(schema))
      throw new InvalidSchema(reference, 'expected no reference to a schema that contains it: write out as many levels as you need');
    const known = levels.get(schema);
    if (depth + (known ?? 1) > MAX_DEPTH)
      throw new InvalidSchema(reference, `expected at most ${MAX_DEPTH} levels of schemas, references included`);
    if (known !== undefined) return known;
    open.add(schema);
    checkKeywords(schema, place);
    let below = 0;
    for (const [part, at] of partsOf(schema, place)) below = Math.max(below, levelsOf(part, at, depth + 1));
    if (schema.$ref !== undefined) {
      const at = `${place}.$ref`;
      const found = resolveReference(root, schema.$ref, base, at);
      below = Math.max(below, levelsOf(found.target, found.place, depth + 1, at));
    }
    open.delete(schema);
    levels.set(schema, below + 1);
    return below + 1;
  };

  return (): number => levelsOf(root, base, 0);
};

// References have been screened: they exist, and never lead back.
const describesObject = (root: unknown, seen: Map<object, boolean>, schema: unknown): boolean => {
  if (!isSchemaObject(schema)) return false;
  const known = seen.get(schema);
  if (known !== undefined) return known;
  const { type, $ref, anyOf, oneOf, allOf } = schema;
  const either = anyOf ?? oneOf;
  const isOf = (part: unknown): boolean => describesObject(root, seen, part);
  const result =
    type === 'object' ||
    (type === undefined &&
      (($ref !== undefined && isOf(resolveReference(root, $ref, '', '').target)) ||
        (Array.isArray(either) && either.every(isOf)) ||
        (Array.isArray(allOf) && allOf.some(isOf))));
  seen.set(schema, result);
  return result;
};

/**
 * Checks a caller's JSON Schema before it is sent to a runtime: its size, depth and references, because a runtime can
 * crash on them, and that it describes an object, as OpenAI demands.
 * @param place the place of the schema in the request
 * @param isStrict also rejects what the grammar of vLLM's backend can't express
 * @throws InvalidSchema (400) that names the place of the first fault
 */
export const screenSchema = (schema: unknown, place: string, isStrict: boolean): void => {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES) throw new InvalidSchema(place, `expected at most ${MAX_BYTES} bytes of JSON`);
  createScreening(schema, place, isStrict)();
  if (!describesObject(schema, new Map(), schema))
    throw new InvalidSchema(place, "expected the schema of an object: type: 'object', or anyOf or $ref of such schemas");
};
