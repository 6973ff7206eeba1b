import * as z from 'zod';
import { firstFault } from '../../../shared/http/first-fault.ts';
import { Count, Switch, samplingFields } from '../chat/sampling-fields.ts';
import { AnySchema } from '../chat/tool.ts';
import { RequestedFallbacks } from '../fallback/requested-models.ts';
import { SystemContent, TurnMessages } from './blocks.ts';
import { type Conversation, toChatMessages } from './to-messages.ts';
import { MessagesToolChoice, MessagesTools } from './tools.ts';

const MAX_STOP_SEQUENCES = 4;
const MAX_STOP_CHARACTERS = 256;
const MAX_USER_CHARACTERS = 512;

const display = { display: z.string().max(64).nullish() };

const Thinking = z.discriminatedUnion(
  'type',
  [
    z.looseObject({ type: z.literal('enabled'), budget_tokens: Count, ...display }),
    z.looseObject({ type: z.literal('adaptive'), ...display }),
    z.looseObject({ type: z.literal('between_tools') }),
    z.looseObject({ type: z.literal('disabled') }),
  ],
  { error: `expected { "type": "enabled" }, "adaptive", "between_tools" or "disabled"` },
);

const OutputFormat = z.looseObject({ type: z.literal('json_schema', "expected 'json_schema'"), schema: AnySchema });

const isEmpty = (value: unknown): boolean =>
  value == null || (Array.isArray(value) && value.length === 0) || (typeof value === 'object' && Object.keys(value).length === 0);

// Ignoring the field would change the answer.
const refused = (message: string) => z.unknown().refine(isEmpty, message).optional();

// Anthropic's fields that have an effect here, or must not be ignored.
const documented = {
  model: z.string().min(1).max(256),
  messages: TurnMessages,
  max_tokens: z.int().min(1),
  system: SystemContent.nullish(),
  stream: Switch,
  temperature: samplingFields.temperature,
  top_p: samplingFields.top_p,
  top_k: samplingFields.top_k,
  stop_sequences: firstFault(z.array(z.string().min(1).max(MAX_STOP_CHARACTERS)).max(MAX_STOP_SEQUENCES)).nullish(),
  tools: MessagesTools.nullish(),
  tool_choice: MessagesToolChoice.nullish(),
  thinking: Thinking.nullish(),
  output_config: z
    .looseObject({ effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(), format: OutputFormat.nullish() })
    .nullish(),
  output_format: OutputFormat.nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  fallbacks: RequestedFallbacks,
  thread: z.unknown().optional(),
  mcp_servers: refused('MCP servers are not supported: connect to them from the client and send their tools'),
  container: refused('containers are not supported: leave this field out'),
};

const MessagesBody = z.looseObject(documented);
const CountBody = z.looseObject({ ...documented, max_tokens: Count });
type CountBody = z.output<typeof CountBody>;

export const knownFields: ReadonlySet<string> = new Set(Object.keys(documented));

/** A request for a message. */
export interface MessagesRequest {
  model: string;
  stream: boolean;
  /** `metadata.user_id`, which Claude Code sends as JSON text; it is cut to the length of a chat's `user`. */
  user: string | undefined;
  metadata: undefined;
  prompt_cache_isolation_key: undefined;
  /** `max_tokens` is only absent if tokens are counted. */
  body: CountBody;
  conversation: Conversation;
}

/** True if the model thinks before it answers. Without `thinking` it doesn't, as in Anthropic's API. */
export const isThinking = ({ thinking }: Pick<CountBody, 'thinking'>): boolean => thinking != null && thinking.type !== 'disabled';

interface BodyFault {
  path: (string | number)[];
  message: string;
}

const choiceFault = ({ tools, tool_choice: choice }: CountBody): BodyFault | undefined => {
  if (choice?.type !== 'any' && choice?.type !== 'tool') return undefined;
  if (!tools?.length) return { path: ['tool_choice'], message: 'only valid with tools: add tools or leave this field out' };
  if (choice.type === 'any' || tools.some(({ name }) => name === choice.name)) return undefined;
  return { path: ['tool_choice', 'name'], message: `expected the name of one of the tools, got '${choice.name}'` };
};

const NO_THINKING: BodyFault = {
  path: ['thinking'],
  message: 'a message of the assistant at the end can only be continued without thinking: add a user message or leave thinking out',
};

const toRequest = (body: CountBody, context: z.core.$RefinementCtx): MessagesRequest => {
  const conversation = toChatMessages(body.system, body.messages);
  const refuse = (fault: BodyFault): never => {
    context.addIssue({ code: 'custom', ...fault });
    return z.NEVER;
  };
  const fault = choiceFault(body);
  if (fault) return refuse(fault);
  if ('fault' in conversation) return refuse(conversation.fault);
  if (conversation.continues && isThinking(body)) return refuse(NO_THINKING);
  return {
    model: body.model,
    stream: body.stream === true,
    user: body.metadata?.user_id?.slice(0, MAX_USER_CHARACTERS),
    metadata: undefined,
    prompt_cache_isolation_key: undefined,
    body,
    conversation,
  };
};

/** The body of a request for a message (https://platform.claude.com/docs/en/api/messages). */
export const messagesRequest: z.ZodType<MessagesRequest> = MessagesBody.transform(toRequest);

/** The body of a request to count tokens: the same, without a limit for the answer. */
export const countRequest: z.ZodType<MessagesRequest> = CountBody.transform(toRequest);
