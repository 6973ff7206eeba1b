import type { OutputItem, ResponseObject } from '../../../shared/responses/output-item.ts';
import { tokenCount, type UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { ResponsesRequest } from './request.ts';
import type { ResponseFacts, Sampling } from './sampling.ts';
import { isForeign, type ResponseTool } from './tools/tool-kinds.ts';

interface ResponseState {
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  output: readonly OutputItem[];
  // True if the response is stored, or will be.
  store: boolean;
  usage?: UpstreamUsage;
  // Seconds since the epoch.
  completedAt?: number;
  incompleteReason?: string;
  error?: { code: string; message: string };
}

const usageOf = (usage: UpstreamUsage): Record<string, unknown> => {
  const input = tokenCount(usage.prompt_tokens) ?? 0;
  const output = tokenCount(usage.completion_tokens) ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cache_write_tokens: 0, cached_tokens: tokenCount(usage.prompt_tokens_details?.cached_tokens) ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: tokenCount(usage.completion_tokens_details?.reasoning_tokens) ?? 0 },
    total_tokens: input + output,
  };
};

// A function has every key of OpenAI's; other tools are as they were sent.
const toolAsSent = (tool: ResponseTool): Record<string, unknown>[] => {
  if (isForeign(tool)) return [];
  if (tool.type === 'namespace') return [{ ...tool, tools: tool.tools.filter((member) => !isForeign(member)) }];
  if (tool.type !== 'function') return [tool];
  const { type, name, description, parameters, strict } = tool;
  return [{ type, name, description: description ?? null, parameters: parameters ?? null, strict: strict ?? null }];
};

const settingsOf = ({ body }: ResponsesRequest, { temperature, top_p }: Sampling): Record<string, unknown> => ({
  access_programs: null,
  frequency_penalty: 0,
  instructions: body.instructions ?? null,
  max_output_tokens: body.max_output_tokens ?? null,
  max_tool_calls: null,
  metadata: body.metadata ?? {},
  moderation: null,
  parallel_tool_calls: body.parallel_tool_calls ?? true,
  presence_penalty: 0,
  previous_response_id: body.previous_response_id ?? null,
  prompt: null,
  prompt_cache_key: body.prompt_cache_key ?? null,
  prompt_cache_retention: null,
  reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
  safety_identifier: null,
  service_tier: 'default',
  temperature,
  text: { format: body.text?.format ?? { type: 'text' } },
  tool_choice: body.tool_choice ?? 'auto',
  tools: (body.tools ?? []).flatMap(toolAsSent),
  top_logprobs: body.top_logprobs ?? 0,
  top_p,
  truncation: body.truncation ?? 'disabled',
  ...(body.user != null && { user: body.user }),
});

/** Creates the response object for its current state. */
export const toResponse = (request: ResponsesRequest, facts: ResponseFacts, state: ResponseState): ResponseObject => ({
  id: facts.id,
  object: 'response',
  created_at: facts.created,
  completed_at: state.completedAt ?? null,
  status: state.status,
  background: false,
  conversation: null,
  error: state.error ?? null,
  incomplete_details: state.incompleteReason ? { reason: state.incompleteReason } : null,
  model: facts.model,
  output: state.output,
  ...settingsOf(request, facts.sampling),
  store: state.store,
  usage: state.usage ? usageOf(state.usage) : null,
});
