import { InvalidSchema, isSchemaObject } from './schema-fault.ts';

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
};

const childOf = (parent: unknown, key: string): unknown => {
  if (Array.isArray(parent)) return parent[Number(key)];
  return isSchemaObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
};

/**
 * Finds what a reference within a schema points to (RFC 6901), and its place in the request.
 * @param base the place of the whole schema
 * @param at the place of the reference
 * @throws InvalidSchema (400) if the reference leads out of the schema or to nothing
 */
export const resolveReference = (root: unknown, reference: unknown, base: string, at: string): { target: unknown; place: string } => {
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference))
    throw new InvalidSchema(at, "expected a reference within this schema, such as '#/$defs/name'");
  let target = root;
  let place = base;
  for (const part of reference.split('/').slice(1)) {
    const key = decode(part);
    place = Array.isArray(target) ? `${place}[${key}]` : `${place}.${key}`;
    target = childOf(target, key);
  }
  if (target === undefined) throw new InvalidSchema(at, 'expected a reference to a part of this schema that exists');
  return { target, place };
};
