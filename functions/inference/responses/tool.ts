import * as z from 'zod';
import { firstFault } from '../../../shared/http/first-fault.ts';
import { AnySchema, FunctionName } from '../chat/tool.ts';

const MAX_TOOLS = 128;
const MAX_ISSUES = 1;

export const FunctionTool = z.looseObject({
  type: z.literal('function'),
  name: FunctionName,
  description: z.string().nullish(),
  parameters: AnySchema.nullish(),
  strict: z.boolean().nullish(),
});
export type FunctionTool = z.output<typeof FunctionTool>;

// A built-in tool of OpenAI or of a client can't run here. It is dropped, and listed in `x-sluice-ignored`.
interface ForeignTool {
  foreign: string;
}

// Of a tool that isn't a function, only the type is kept.
const Tool = z.looseObject({ type: z.string().max(64) }).transform((tool, context): FunctionTool | ForeignTool => {
  if (tool.type !== 'function') return { foreign: tool.type };
  const { data, error } = FunctionTool.safeParse(tool);
  if (data) return data;
  for (const { path, message } of error.issues.slice(0, MAX_ISSUES))
    context.issues.push({ code: 'custom', path: [...path], message, input: tool });
  return z.NEVER;
});

export const ResponseTools = firstFault(z.array(Tool).max(MAX_TOOLS));
export type ResponseTools = z.output<typeof ResponseTools>;

export const ResponseToolChoice = z.union(
  [z.enum(['auto', 'none', 'required']), z.looseObject({ type: z.literal('function'), name: FunctionName })],
  {
    error: `expected 'auto', 'none', 'required' or { "type": "function", "name": … }`,
  },
);

export const isFunction = (tool: FunctionTool | ForeignTool): tool is FunctionTool => !('foreign' in tool);
