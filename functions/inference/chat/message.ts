import * as z from 'zod';
import { firstFault } from '../../../shared/http/first-fault.ts';
import { Label } from '../../../shared/http/label.ts';
import { anyObject } from './any-object.ts';

const MAX_MESSAGES = 4_096;
const MAX_PARTS = 4_096;
const MAX_CALLS = 128;

const TextPart = z.looseObject({ type: z.literal('text'), text: z.string() });
// Clients replay the assistant's refusals.
const RefusalPart = z.looseObject({ type: z.literal('refusal'), refusal: z.string() });

const Content = z.union([z.string(), firstFault(z.array(z.union([TextPart, RefusalPart])).max(MAX_PARTS))], {
  error: 'expected a string or an array of text parts ({ "type": "text", "text": … }); images, audio and files are not supported',
});

const Arguments = z.union([z.string(), anyObject()], { error: 'expected a JSON string or an object' });

/** A tool call of an assistant message, as clients replay it (interface 2.2). */
export const ToolCall = z.looseObject({
  id: Label.nullish(),
  type: z.literal('function', { error: "expected 'function': only function tools are supported" }).default('function'),
  function: z.looseObject({ name: Label.nullish(), arguments: Arguments.nullish() }),
});
export type ToolCall = z.output<typeof ToolCall>;

/**
 * A message of the conversation (interface 2.2), plus the roles `developer` and `function`, which real clients send
 * too.
 */
export const Message = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
    content: Content.nullish(),
    name: Label.nullish(),
    reasoning: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    tool_call_id: Label.nullish(),
    tool_calls: firstFault(z.array(ToolCall).max(MAX_CALLS)).nullish(),
    /** The deprecated form of one call. */
    function_call: z.looseObject({ name: Label, arguments: Arguments.nullish() }).nullish(),
  })
  .refine(({ content, role }) => content != null || !NEEDS_CONTENT.has(role), {
    error: 'expected a string: messages with this role must have content',
    path: ['content'],
  });
export type Message = z.output<typeof Message>;

const NEEDS_CONTENT = new Set(['system', 'developer', 'user']);

export const Messages = firstFault(z.array(Message).min(1, 'expected at least one message').max(MAX_MESSAGES));
