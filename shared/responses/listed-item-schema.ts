import * as z from 'zod';
import { foreignItemTypes } from './tool-item.ts';

const listed = {
  id: z.string().meta({ description: 'The id that the caller sent, or a generated one.' }),
  status: z.string().nullable().meta({ description: 'The status that the caller sent, or `completed`.' }),
};
const Parts = z.array(
  z.union([
    z.looseObject({
      type: z.enum(['input_text', 'output_text', 'text']),
      text: z.string(),
      annotations: z.array(z.looseObject({})).nullish(),
      logprobs: z.array(z.looseObject({})).nullish(),
    }),
    z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  ]),
);
const Thoughts = z.array(z.looseObject({ type: z.string().optional(), text: z.string() })).nullish();

const Output = z.union([z.string(), Parts]);
const SentTools = z.array(z.record(z.string(), z.unknown()));
const calledBy = { call_id: z.string(), name: z.string(), namespace: z.string().nullish() };
const searched = { call_id: z.string().nullish(), execution: z.string().nullish() };

/** An item of the list of a response's input. */
export const ListedItem = z.discriminatedUnion('type', [
  z.looseObject({
    ...listed,
    type: z.literal('message'),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: Parts,
  }),
  z.looseObject({ ...listed, type: z.literal('function_call'), ...calledBy, arguments: z.string() }),
  z.looseObject({ ...listed, type: z.literal('custom_tool_call'), ...calledBy, input: z.string() }),
  z.looseObject({ ...listed, type: z.literal('tool_search_call'), ...searched, arguments: z.unknown() }),
  z.looseObject({ ...listed, type: z.literal('tool_search_output'), ...searched, tools: SentTools }),
  z.looseObject({ ...listed, type: z.literal('additional_tools'), role: z.string().nullish(), tools: SentTools }),
  z.looseObject({
    ...listed,
    type: z.literal('local_shell_call'),
    call_id: z.string().nullish(),
    action: z.looseObject({ type: z.literal('exec'), command: z.array(z.string()) }),
  }),
  z.looseObject({ ...listed, type: z.enum(['function_call_output', 'custom_tool_call_output']), call_id: z.string(), output: Output }),
  z.looseObject({ ...listed, type: z.literal('local_shell_call_output'), call_id: z.string().nullish(), output: Output }),
  z.looseObject({
    ...listed,
    type: z.enum(['compaction', 'compaction_summary', 'context_compaction']),
    encrypted_content: z.string(),
  }),
  z.looseObject({
    ...listed,
    type: z.literal('agent_message'),
    author: z.string(),
    recipient: z.string(),
    content: z.array(z.looseObject({ type: z.string(), text: z.string().optional(), encrypted_content: z.string().optional() })),
  }),
  z.looseObject({ ...listed, type: z.enum(['compaction_trigger', ...foreignItemTypes]) }),
  z.looseObject({ ...listed, type: z.literal('reasoning'), summary: Thoughts, content: Thoughts, encrypted_content: z.string().nullish() }),
]);
