import * as z from 'zod';
import { firstFault } from '../http/first-fault.ts';
import { Label } from '../http/label.ts';

const MAX_PARTS = 4_096;
const MAX_ITEMS = 4_096;

const TextPart = z.looseObject({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() });
// Clients replay a refusal of the model in this form.
const RefusalPart = z.looseObject({ type: z.literal('refusal'), refusal: z.string() });

const Content = z.union([z.string(), firstFault(z.array(z.union([TextPart, RefusalPart])).max(MAX_PARTS))], {
  error: 'expected a string or an array of text parts ({ "type": "input_text", "text": … }); images, audio and files are not supported',
});

const MessageItem = z.looseObject({
  /** Optional, because real clients leave it out. */
  type: z.literal('message').optional(),
  id: Label.nullish(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: Content,
});

const FunctionCallItem = z.looseObject({
  type: z.literal('function_call'),
  id: Label.nullish(),
  call_id: Label.min(1),
  name: Label.min(1),
  arguments: z.string(),
});

const FunctionCallOutputItem = z.looseObject({
  type: z.literal('function_call_output'),
  id: Label.nullish(),
  call_id: Label.min(1),
  output: Content,
});

const ThoughtPart = z.looseObject({ text: z.string() });
const Thought = firstFault(z.array(ThoughtPart).max(MAX_PARTS));

const ReasoningItem = z.looseObject({
  type: z.literal('reasoning'),
  id: Label.nullish(),
  summary: Thought.nullish(),
  content: Thought.nullish(),
});

const ConversationItem = z.discriminatedUnion('type', [MessageItem, FunctionCallItem, FunctionCallOutputItem, ReasoningItem]);
export type ConversationItem = z.output<typeof ConversationItem>;

// Clients send a reference instead of an item of an earlier response that is stored.
const ItemReference = z.looseObject({ type: z.literal('item_reference'), id: Label.min(1) });
export type ItemReference = z.output<typeof ItemReference>;

const InputItem = z.discriminatedUnion('type', [MessageItem, FunctionCallItem, FunctionCallOutputItem, ReasoningItem, ItemReference], {
  error: "expected an item of type 'message', 'function_call', 'function_call_output', 'reasoning' or 'item_reference'",
});
export type InputItem = z.output<typeof InputItem>;
export type MessageItem = z.output<typeof MessageItem>;

/** `input`: a string is the same as one user message. */
export const Input = z.preprocess(
  (input) => (typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input),
  firstFault(
    z
      .array(InputItem, { error: ({ code }) => (code === 'invalid_type' ? 'expected a string or an array of items' : undefined) })
      .min(1, 'expected at least one item')
      .max(MAX_ITEMS),
  ),
);

/** The most items of a conversation, including earlier responses. */
export const MAX_CONVERSATION_ITEMS = MAX_ITEMS;
