import type * as z from 'zod';
import type { Resource, Stack } from './read-assembly.ts';
import type { Resolve } from './resolve.ts';

/** A resource and its context. */
export interface LocatedResource {
  stack: Stack;
  logicalId: string;
  resource: Resource;
  resolve: Resolve;
}

/**
 * Resolves and validates the properties of a resource that the schema names.
 * @throws Error naming the resource if its properties are not supported
 */
export const readProperties = <Shape extends z.ZodRawShape>(
  { stack, logicalId, resource, resolve }: LocatedResource,
  schema: z.ZodObject<Shape>,
): z.infer<z.ZodObject<Shape>> => {
  const named = Object.keys(schema.shape).filter((key) => resource.properties[key] !== undefined);
  const values = Object.fromEntries(named.map((key) => [key, resolve(stack, resource.properties[key])]));
  const parsed = schema.safeParse(values);
  if (!parsed.success)
    throw new Error(`Unsupported properties of ${resource.type} (${logicalId} in stack ${stack.name})`, { cause: parsed.error });
  return parsed.data;
};
