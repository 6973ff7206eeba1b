import { isSchemaObject, type SchemaObject } from '../json-schema/schema-fault.ts';

// xgrammar refuses the first five, and writes answers that break the others.
const REFUSED = [
  ...['multipleOf', 'uniqueItems', 'contains', 'minContains', 'maxContains'],
  ...['if', 'then', 'else', 'not', 'dependentSchemas', 'dependentRequired'],
];

const FORMATS: ReadonlySet<unknown> = new Set([
  ...['email', 'date', 'time', 'date-time', 'duration', 'ipv4', 'ipv6', 'hostname', 'uuid', 'uri', 'uri-reference', 'uri-template'],
  ...['json-pointer', 'relative-json-pointer'],
]);

interface GrammarFault {
  keyword: string;
  reason: string;
}

const beside = (keyword: string, other: string): GrammarFault => ({
  keyword,
  reason: `not supported together with '${other}': leave one of them out`,
});

const firstOf = (schema: SchemaObject, keywords: readonly string[]): string | undefined =>
  keywords.find((keyword) => schema[keyword] !== undefined);

const isText = ({ type }: SchemaObject): boolean => type === 'string' || (Array.isArray(type) && type.includes('string'));

const textFault = (schema: SchemaObject): GrammarFault | undefined => {
  const { format } = schema;
  if (format !== undefined && isText(schema) && !FORMATS.has(format))
    return { keyword: 'format', reason: `expected one of ${[...FORMATS].join(', ')}: leave others out` };
  const shape = firstOf(schema, ['pattern', ...(isText(schema) ? ['format'] : [])]);
  const length = firstOf(schema, ['minLength', 'maxLength']);
  return shape !== undefined && length !== undefined ? beside(length, shape) : undefined;
};

const namesFault = (schema: SchemaObject): GrammarFault | undefined => {
  const { propertyNames, patternProperties, additionalProperties } = schema;
  if (propertyNames !== undefined) {
    const open = typeof additionalProperties === 'object' ? ['additionalProperties'] : [];
    const other = firstOf(schema, ['properties', 'patternProperties', ...open, 'unevaluatedProperties']);
    if (other !== undefined) return beside('propertyNames', other);
  }
  if (patternProperties === undefined) return undefined;
  if (schema.properties !== undefined) return beside('patternProperties', 'properties');
  return isSchemaObject(patternProperties) && Object.keys(patternProperties).length > 1
    ? { keyword: 'patternProperties', reason: 'expected only one pattern: combine the patterns' }
    : undefined;
};

/**
 * The first keyword of a schema that the grammar of vLLM's backend xgrammar can't express, without the schemas inside.
 * vLLM refuses such a schema without naming the place (vllm/v1/structured_output/backend_xgrammar.py).
 */
export const grammarFault = (schema: SchemaObject): GrammarFault | undefined => {
  const keyword = firstOf(schema, REFUSED);
  if (keyword !== undefined) return { keyword, reason: 'not supported: leave it out, and say it in a description' };
  return textFault(schema) ?? namesFault(schema);
};
