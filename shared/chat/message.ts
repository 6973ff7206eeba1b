import * as z from 'zod';

const MAX_PARTS = 4_096;
const MAX_CALLS = 128;

const TextPart = z.looseObject({ type: z.literal('text'), text: z.string() });
/** An assistant's refusal, as clients replay it. */
const RefusalPart = z.looseObject({ type: z.literal('refusal'), refusal: z.string() });

/** Text as clients send it: a string, or parts of which only text is taken. */
const Content = z.union([z.string(), z.array(z.union([TextPart, RefusalPart])).max(MAX_PARTS)], {
  error: 'expected a string or an array of text parts ({ "type": "text", "text": … })',
});

const Arguments = z.union([z.string(), z.record(z.string(), z.unknown())], { error: 'expected a string of JSON, or an object' });

/** A call in an assistant's turn as clients replay it (interface 2.2). */
export const ToolCall = z.looseObject({
  id: z.string().nullish(),
  type: z.literal('function', { error: "expected 'function': only function tools are supported" }).default('function'),
  function: z.looseObject({ name: z.string().nullish(), arguments: Arguments.nullish() }),
});
export type ToolCall = z.output<typeof ToolCall>;

/** A message of the conversation (interface 2.2), with the roles `developer` and `function` that real clients send too. */
export const Message = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
    content: Content.nullish(),
    name: z.string().nullish(),
    reasoning: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    tool_call_id: z.string().nullish(),
    tool_calls: z.array(ToolCall).max(MAX_CALLS).nullish(),
    /** The deprecated form of one call. */
    function_call: z.looseObject({ name: z.string(), arguments: Arguments.nullish() }).nullish(),
  })
  .refine(({ content, role }) => content != null || !NEEDS_CONTENT.has(role), {
    error: 'expected a string: a message of this role cannot come without content',
    path: ['content'],
  });
export type Message = z.output<typeof Message>;

const NEEDS_CONTENT = new Set(['system', 'developer', 'user']);

/** A message that stands where no chat template can render it. */
export interface MessageFault {
  path: (string | number)[];
  message: string;
}

/** How many calls an assistant's turn makes. */
const callsOf = ({ tool_calls, function_call }: Message): ToolCall[] =>
  tool_calls?.length ? tool_calls : function_call ? [{ type: 'function', function: function_call }] : [];

/**
 * The rules of order that chat templates rest on: a result follows the assistant turn that called for it, and names one of its calls.
 * Gives the first message at fault.
 */
export const messageOrderFault = (messages: readonly Message[]): MessageFault | undefined => {
  let open: ToolCall[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') open = callsOf(message);
    else if (message.role === 'user') open = [];
    else if (message.role === 'tool' || message.role === 'function') {
      const fault = resultFault(message, open);
      if (fault) return { path: ['messages', index, fault.field], message: fault.message };
    }
  }
  return undefined;
};

const resultFault = ({ role, tool_call_id }: Message, open: readonly ToolCall[]): { field: string; message: string } | undefined => {
  if (open.length === 0)
    return { field: 'role', message: `a '${role}' message must come after the assistant message whose call it answers` };
  if (role === 'function') return undefined;
  if (!tool_call_id && open.length > 1)
    return {
      field: 'tool_call_id',
      message: `expected the id of the call that it answers: the assistant message before it makes ${open.length} calls`,
    };
  if (tool_call_id && !open.some(({ id }) => !id || id === tool_call_id))
    return { field: 'tool_call_id', message: 'the assistant message before it makes no call of this id' };
  return undefined;
};
