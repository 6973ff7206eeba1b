import * as z from 'zod';
// By name: the namespace `z.core` would bring all of zod into every bundle.
import { $constructor } from 'zod/v4/core';

// Unlike zod's own array, it stops at the first invalid element.
const FirstFaultArray: z.core.$constructor<z.ZodArray, z.core.$ZodArrayDef> = $constructor(
  'FirstFaultArray',
  (inst: z.ZodArray, def: z.core.$ZodArrayDef) => {
    const array: z.core.$constructor<z.ZodArray> = z.ZodArray;
    array.init(inst, def as z.ZodArray['_zod']['def']);
    inst._zod.parse = (payload, context) => {
      const { value: input, issues } = payload;
      if (!Array.isArray(input)) {
        issues.push({ code: 'invalid_type', expected: 'array', input, inst });
        return payload;
      }
      const output: unknown[] = [];
      payload.value = output;
      for (const [index, value] of input.entries()) {
        const result = def.element._zod.run({ value, issues: [] }, context) as z.core.ParsePayload;
        output.push(result.value);
        if (result.issues.length === 0) continue;
        for (const issue of result.issues) issues.push({ ...issue, path: [index, ...(issue.path ?? [])] });
        break;
      }
      return payload;
    };
  },
);

/**
 * The same list, but it reports only its first invalid element, with the same message: a body can have 250,000
 * values, and an issue for each would take seconds and hundreds of megabytes.
 */
export const firstFault = <List extends z.ZodArray>(list: List): List => new FirstFaultArray(list.def) as List;
