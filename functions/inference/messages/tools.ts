import * as z from 'zod';
import { firstFault } from '../../../shared/http/first-fault.ts';
import { AnySchema } from '../chat/tool.ts';

const MAX_TOOLS = 512;
const MAX_TYPE_CHARACTERS = 64;

const ToolName = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'expected 1 to 128 letters, digits, underscores or dashes');

const CustomTool = z.looseObject({
  type: z
    .literal('custom', {
      error: ({ input }) => {
        const tool = typeof input === 'string' ? `the tool type '${input.slice(0, MAX_TYPE_CHARACTERS)}'` : 'this tool type';
        return `${tool} is not supported: only custom tools are, which the client runs`;
      },
    })
    .nullish(),
  name: ToolName,
  description: z.string().nullish(),
  input_schema: AnySchema,
  strict: z.boolean().nullish(),
});

/** The tools that the client runs. Tools of Anthropic are a 400: the answer without them would be another one. */
export const MessagesTools = firstFault(z.array(CustomTool).max(MAX_TOOLS));
export type MessagesTools = z.output<typeof MessagesTools>;

const parallel = { disable_parallel_tool_use: z.boolean().nullish() };

export const MessagesToolChoice = z.discriminatedUnion(
  'type',
  [
    z.looseObject({ type: z.literal('auto'), ...parallel }),
    z.looseObject({ type: z.literal('any'), ...parallel }),
    z.looseObject({ type: z.literal('tool'), name: ToolName, ...parallel }),
    z.looseObject({ type: z.literal('none'), ...parallel }),
  ],
  { error: `expected { "type": "auto" }, "any", "none" or { "type": "tool", "name": … }` },
);
export type MessagesToolChoice = z.output<typeof MessagesToolChoice>;
