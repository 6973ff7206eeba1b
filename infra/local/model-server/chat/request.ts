import * as z from 'zod';
import { Integer, JsonObject, sharedFields } from '../requests/fields.ts';

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]);
const ToolCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
export const ChatRequestMessage = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: Content.nullish(),
  reasoning: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  tool_calls: z.array(ToolCall).nullish(),
  tool_call_id: z.string().nullish(),
  name: z.string().nullish(),
});
export type ChatRequestMessage = z.infer<typeof ChatRequestMessage>;

export const Tool = z.looseObject({
  type: z.literal('function').optional(),
  function: z.looseObject({ name: z.string(), description: z.string().nullish(), parameters: JsonObject.nullish() }),
});
export type Tool = z.infer<typeof Tool>;
const NamedTool = z.looseObject({ type: z.literal('function').optional(), function: z.looseObject({ name: z.string() }) });

/**
 * The fields of vLLM's `ChatCompletionRequest` that this container reads. As in vLLM, unknown keys pass at every
 * level, and null passes for some fields. The gateway has checked their ranges and combinations.
 */
export const ChatRequest = z.looseObject({
  ...sharedFields,
  messages: z.array(ChatRequestMessage),
  max_completion_tokens: Integer.nullish(),
  n: Integer.nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: Integer.nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), NamedTool]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning_effort: z.enum(['none', 'low', 'medium', 'high']).nullish(),
  thinking_token_budget: Integer.min(0).nullish(),
  chat_template_kwargs: JsonObject.nullish(),
  include_reasoning: z.boolean().optional(),
  add_generation_prompt: z.boolean().optional(),
  continue_final_message: z.boolean().optional(),
  // Sluice's own: in vLLM's chat completions `echo` has another meaning and `echo_last` doesn't exist.
  echo: z.boolean().optional(),
  echo_last: Integer.nullish(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;
