import type * as z from 'zod';
import type { Resource, Stack } from './read-assembly.ts';
import type { Resolve } from './resolve.ts';

/** A resource with all that is needed to interpret it. */
export interface LocatedResource {
  readonly stack: Stack;
  readonly logicalId: string;
  readonly resource: Resource;
  readonly resolve: Resolve;
}

/**
 * Resolves those properties of a resource that the schema names, and checks them.
 * @throws Error naming the resource when they have another shape
 */
export const readProperties = <Shape extends z.ZodRawShape>(
  { stack, logicalId, resource, resolve }: LocatedResource,
  schema: z.ZodObject<Shape>,
): z.infer<z.ZodObject<Shape>> => {
  const named = Object.keys(schema.shape).filter((key) => resource.properties[key] !== undefined);
  const values = Object.fromEntries(named.map((key) => [key, resolve(stack, resource.properties[key])]));
  const parsed = schema.safeParse(values);
  if (!parsed.success)
    throw new Error(`The local run cannot read ${resource.type} (${logicalId} in stack ${stack.name})`, { cause: parsed.error });
  return parsed.data;
};
