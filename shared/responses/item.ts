import * as z from 'zod';
import { firstFault } from '../http/first-fault.ts';
import { Label } from '../http/label.ts';
import { Content, MAX_PARTS } from './content.ts';
import { toolItems } from './tool-item.ts';

const MAX_ITEMS = 4_096;

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
  namespace: Label.nullish(),
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
  encrypted_content: z.string().nullish(),
});

const conversationItems = [MessageItem, FunctionCallItem, FunctionCallOutputItem, ReasoningItem, ...toolItems] as const;

const ConversationItem = z.discriminatedUnion('type', conversationItems);
export type ConversationItem = z.output<typeof ConversationItem>;

// Clients send a reference instead of an item of an earlier response that is stored.
const ItemReference = z.looseObject({ type: z.literal('item_reference'), id: Label.min(1) });
export type ItemReference = z.output<typeof ItemReference>;

const InputItem = z.discriminatedUnion('type', [...conversationItems, ItemReference], {
  error: "expected an item of type 'message', 'function_call', 'function_call_output', 'reasoning', 'item_reference' or of a tool",
});
export type InputItem = z.output<typeof InputItem>;
export type MessageItem = z.output<typeof MessageItem>;

// As with OpenAI, an item of only an id is a reference.
const withType = (item: unknown): unknown => {
  if (typeof item !== 'object' || item === null || !('id' in item)) return item;
  const isReference = Object.entries(item).every(([name, value]) => name === 'id' || (name === 'type' && value === null));
  return isReference ? { type: 'item_reference', id: item.id } : item;
};

/** `input`: a string is the same as one user message. */
export const Input = z.preprocess(
  (input) => {
    if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
    return Array.isArray(input) ? input.map(withType) : input;
  },
  firstFault(
    z
      .array(InputItem, { error: ({ code }) => (code === 'invalid_type' ? 'expected a string or an array of items' : undefined) })
      .min(1, 'expected at least one item')
      .max(MAX_ITEMS),
  ),
);

/** The most items of a conversation, including earlier responses. */
export const MAX_CONVERSATION_ITEMS = MAX_ITEMS;
