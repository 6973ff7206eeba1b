import * as z from 'zod';

const scored = {
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullish().meta({ description: 'The UTF-8 bytes of the token. A token can be a part of a character.' }),
};
/** Log probabilities of tokens. */
export const ScoredTokens = z.array(z.looseObject({ ...scored, top_logprobs: z.array(z.looseObject(scored)) }));

/** A part of a message of the model. */
export const OutputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.looseObject({})).max(0),
  logprobs: ScoredTokens.meta({ description: 'Empty unless requested.' }),
});
/** A part of the reasoning. */
export const ReasoningText = z.object({ type: z.literal('reasoning_text'), text: z.string() });
/** The reasoning as a summary. */
export const SummaryText = z.object({ type: z.literal('summary_text'), text: z.string() });

const ItemStatus = z
  .enum(['in_progress', 'completed', 'incomplete'])
  .meta({ description: '`incomplete`: the answer ended before this item was complete.' });

const OutputMessage = z.object({
  id: z.string(),
  type: z.literal('message'),
  status: ItemStatus,
  role: z.literal('assistant'),
  content: z.array(OutputText),
});

const OutputReasoning = z.object({
  id: z.string(),
  type: z.literal('reasoning'),
  status: ItemStatus,
  summary: z.array(SummaryText).meta({ description: 'The reasoning, if the request has `reasoning.summary`; empty otherwise.' }),
  content: z.array(ReasoningText).optional().meta({ description: 'The reasoning, if the request has no `reasoning.summary`.' }),
  encrypted_content: z
    .string()
    .optional()
    .meta({ description: 'The reasoning again, if `include` has `reasoning.encrypted_content`. It can be sent instead of the text.' }),
});

const namespace = z.string().optional().meta({ description: 'The namespace of the tool, if it has one.' });

const OutputCall = z.object({
  id: z.string(),
  type: z.literal('function_call'),
  status: ItemStatus,
  call_id: z.string().meta({ description: 'The id that the `function_call_output` refers to.' }),
  name: z.string(),
  namespace,
  arguments: z.string().meta({ description: 'JSON as the model wrote it.' }),
});

const OutputCustomCall = z.object({
  id: z.string(),
  type: z.literal('custom_tool_call'),
  status: ItemStatus,
  call_id: z.string().meta({ description: 'The id that the `custom_tool_call_output` refers to.' }),
  name: z.string(),
  namespace,
  input: z.string(),
});

const OutputToolSearchCall = z.object({
  id: z.string(),
  type: z.literal('tool_search_call'),
  status: ItemStatus,
  call_id: z.string().meta({ description: 'The id that the `tool_search_output` refers to.' }),
  execution: z.literal('client'),
  arguments: z.record(z.string(), z.unknown()).meta({ description: 'Empty until the item is complete.' }),
});

const OutputLocalShellCall = z.object({
  id: z.string(),
  type: z.literal('local_shell_call'),
  status: ItemStatus,
  call_id: z.string().meta({ description: 'The id that the result refers to.' }),
  action: z.object({
    type: z.literal('exec'),
    command: z.array(z.string()).meta({ description: 'Empty until the item is complete.' }),
    timeout_ms: z.int().nullable(),
    working_directory: z.string().nullable(),
    env: z.record(z.string(), z.string()),
    user: z.string().nullable(),
  }),
});

const OutputCompaction = z.object({
  id: z.string(),
  type: z.literal('compaction'),
  encrypted_content: z.string().meta({ description: 'The summary, encoded. Send the item as it is instead of the conversation.' }),
});

/** An item of a response's output. */
export const OutputItemReply = z.discriminatedUnion('type', [
  OutputMessage,
  OutputReasoning,
  OutputCall,
  OutputCustomCall,
  OutputToolSearchCall,
  OutputLocalShellCall,
  OutputCompaction,
]);
