import * as z from 'zod';
import { firstFault } from '../../../shared/http/first-fault.ts';
import { type ConversationItem, Input, type InputItem } from '../../../shared/responses/item.ts';
import { foreignItemTypes } from '../../../shared/responses/tool-item.ts';
import { Metadata } from '../chat/request.ts';
import { Count, Switch, samplingFields } from '../chat/sampling-fields.ts';
import { AnySchema, FunctionName } from '../chat/tool.ts';
import { modelsFault, RequestedModels } from '../fallback/requested-models.ts';
import { orphanOf } from './orphan.ts';
import { isReference } from './resolve-references.ts';
import { loadedTools } from './tools/tool-calls.ts';
import { faultOfItems, faultOfTools } from './tools/tool-faults.ts';
import { ResponseToolChoice, ResponseTools } from './tools/tool-kinds.ts';
import { createToolNames, type ToolNames } from './tools/tool-names.ts';

const Text = z.looseObject({ type: z.literal('text') });
const JsonObject = z.looseObject({ type: z.literal('json_object') });
const JsonSchema = z.looseObject({
  type: z.literal('json_schema'),
  name: FunctionName,
  description: z.string().nullish(),
  schema: AnySchema,
  strict: z.boolean().nullish(),
});

const Format = z.discriminatedUnion('type', [Text, JsonObject, JsonSchema], {
  error: "expected 'text', 'json_object' or 'json_schema'",
});

// Ignoring the field would change the answer.
const refused = (message: string) =>
  z
    .unknown()
    .refine((value) => value == null || value === false, message)
    .optional();

// OpenAI's fields that have an effect here, or must not be ignored.
const documented = {
  model: z.string().min(1).max(256),
  input: Input,
  instructions: z.string({ error: 'expected a string' }).nullish(),
  max_output_tokens: Count,
  temperature: samplingFields.temperature,
  top_p: samplingFields.top_p,
  tools: ResponseTools.nullish(),
  tool_choice: ResponseToolChoice.nullish(),
  parallel_tool_calls: Switch,
  text: z.looseObject({ format: Format.nullish(), verbosity: z.unknown().optional() }).nullish(),
  reasoning: z
    .looseObject({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    })
    .nullish(),
  metadata: Metadata.nullish(),
  user: z.string().max(512).nullish(),
  store: Switch,
  previous_response_id: z.string().min(1).max(256).nullish(),
  stream: Switch,
  truncation: z.enum(['auto', 'disabled']).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  include: firstFault(z.array(z.string().max(256)).max(64)).nullish(),
  prompt_cache_key: z.string().max(256).nullish(),
  models: RequestedModels,
  background: refused('background responses are not supported: leave this field out and use stream: true for long answers'),
  conversation: refused('conversations are not supported: continue a response with previous_response_id'),
  prompt: refused('stored prompts are not supported: send instructions and input'),
};

const ResponsesBody = z.looseObject(documented);
type ResponsesBody = z.output<typeof ResponsesBody>;

export const knownFields: ReadonlySet<string> = new Set(Object.keys(documented));

/** A request for a response, with the conversation that it continues. */
export interface ResponsesRequest {
  model: string;
  stream: boolean;
  user: string | null | undefined;
  metadata: Record<string, unknown> | null | undefined;
  prompt_cache_isolation_key: string | null | undefined;
  body: ResponsesBody;
  /** The caller's input, with references replaced by the items of earlier responses. */
  input: readonly ConversationItem[];
  /** The conversation that `previous_response_id` continues. `depth`: its number of responses. */
  before: { items: readonly ConversationItem[]; depth: number };
  names: ToolNames;
}

// They are no message for the model.
const SILENT: ReadonlySet<string | undefined> = new Set(['reasoning', 'additional_tools', 'compaction_trigger', ...foreignItemTypes]);

/** The error for a conversation that has no message for the model; reasoning alone is not sent to a model. */
export const emptyConversationFault = (items: readonly InputItem[], { instructions }: ResponsesBody): string | undefined =>
  !instructions && items.every(({ type }) => SILENT.has(type)) ? 'expected at least one item other than reasoning' : undefined;

/** The names of the tools of a request and of its items. */
export const toolNamesOf = ({ tools }: Pick<ResponsesBody, 'tools'>, items: readonly ConversationItem[]): ToolNames =>
  createToolNames([...(tools ?? []), ...loadedTools(items)]);

const contradiction = (body: ResponsesBody, names: ToolNames): { path: (string | number)[]; message: string } | undefined => {
  const { tool_choice: choice, input, previous_response_id: previous } = body;
  const fault = modelsFault(body) ?? faultOfItems(input);
  if (fault) return fault;
  // The other tools and calls can be in an earlier response, or be referenced items.
  if (previous != null || input.some(isReference)) return undefined;
  const toolFault = faultOfTools(choice, names);
  if (toolFault) return toolFault;
  const nothing = emptyConversationFault(input, body);
  if (nothing) return { path: ['input'], message: nothing };
  const orphan = orphanOf(input as readonly ConversationItem[], []);
  return orphan && { path: ['input', orphan.index, 'call_id'], message: orphan.message };
};

/** The schema of the body. */
export const responsesRequest: z.ZodType<ResponsesRequest> = ResponsesBody.transform((body, context): ResponsesRequest => {
  const input = body.input as readonly ConversationItem[];
  const names = toolNamesOf(body, input);
  const fault = contradiction(body, names);
  if (fault) {
    context.issues.push({ code: 'custom', ...fault, input: body });
    return z.NEVER;
  }
  return {
    model: body.model,
    stream: body.stream === true,
    user: body.user,
    metadata: body.metadata,
    prompt_cache_isolation_key: body.prompt_cache_key,
    body,
    input,
    before: { items: [], depth: 0 },
    names,
  };
});

/** True if a request asks for a summary of its conversation, instead of an answer. */
export const isCompactionRequest = ({ input }: Pick<ResponsesRequest, 'input'>): boolean => input.at(-1)?.type === 'compaction_trigger';
