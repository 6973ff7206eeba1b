import { hash } from 'node:crypto';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every object in a document that has this key. */
export const having = (key: string, value: unknown): Json[] => {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap((part) => having(key, part));
  return !Array.isArray(value) && Object.hasOwn(value, key) ? [value as Json, ...inner] : inner;
};

// An undocumented property is a fault, so objects with named properties accept no others.
const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed);
  if (!isObject(value)) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closed(part)]));
  const isOpen = !isObject(value.properties) || Object.keys(value.properties).length === 0 || 'additionalProperties' in value;
  return isOpen ? inner : { ...inner, additionalProperties: false };
};

interface Options {
  isClosed?: boolean;
  open?: string[];
}

// Returns what compiles a schema that refers to these, once for each text.
const compilerOf = (schemas: Json, { isClosed = false, open = [] }: Options): ((absolute: string) => ValidateFunction) => {
  // To optimize a validator takes longer than to compile it, and most validate few values.
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
  addFormats.default(ajv);
  const components = isClosed
    ? Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, open.includes(name) ? schema : closed(schema)]))
    : schemas;
  ajv.addSchema({ $id: 'document', components: { schemas: components } });
  const compiled = new Map<string, ValidateFunction>();
  return (absolute) => {
    const validate = compiled.get(absolute) ?? ajv.compile(JSON.parse(absolute) as Json);
    compiled.set(absolute, validate);
    return validate;
  };
};

const COMPILERS = Symbol.for('sluice.schemas');

// Each suite has its own copy of this module, but not of the global object: all local runs serve the same documents.
const worker = globalThis as typeof globalThis & { [COMPILERS]?: Map<string, ReturnType<typeof compilerOf>> };

const sharedCompilerOf = (schemas: Json, options: Options): ReturnType<typeof compilerOf> => {
  worker[COMPILERS] ??= new Map();
  const key = hash('sha256', JSON.stringify([schemas, options]));
  const compiler = worker[COMPILERS].get(key) ?? compilerOf(schemas, options);
  worker[COMPILERS].set(key, compiler);
  return compiler;
};

/**
 * Validates values by the schemas of an OpenAPI document.
 * @param isClosed whether an undocumented property is a fault, except in the schemas named in `open`
 */
export const schemasOf = (document: Json, options: Options = {}) => {
  const { schemas } = document.components as { schemas: Json };
  const compile = sharedCompilerOf(schemas, options);
  return {
    /** The faults of a value under a schema, such as `{ "$ref": "#/components/…" }`; empty if it is valid. */
    faults: (schema: Json, value: unknown): string[] => {
      const validate = compile(JSON.stringify(schema).replaceAll('"#/', '"document#/'));
      return validate(value)
        ? []
        : (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
    },
  };
};
