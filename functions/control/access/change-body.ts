import * as z from 'zod';

/**
 * The body of a change. It must have a field to change: an empty one would only give the resource a new version.
 * @param option a field that only says how the change is made
 */
export const changeBody = <Shape extends z.ZodRawShape>(shape: Shape, option?: keyof Shape & string) =>
  z
    .strictObject(shape)
    .refine(
      (fields) => Object.entries(fields).some(([name, value]) => value !== undefined && name !== option),
      `expected at least one field${option === undefined ? '' : ` besides '${option}'`}`,
    );
