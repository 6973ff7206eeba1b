import { ApiError, type FieldNames, nameOf } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { dialectOf } from '../../../shared/upstream/dialects.ts';
import { checkSupport, ignoredFields } from '../chat/support.ts';
import { droppedBlocks } from './blocks.ts';
import { isThinking, knownFields, type MessagesRequest } from './request.ts';
import { toChatSettings } from './to-chat.ts';

const fieldNames: FieldNames = {
  stop: 'stop_sequences',
  user: 'metadata.user_id',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  response_format: 'output_config.format',
  reasoning_effort: 'output_config.effort',
};
const olderNames: FieldNames = { ...fieldNames, response_format: 'output_format' };

/** The Messages API's names for a chat completion's fields, as a request has them. */
export const fieldNamesOf = ({ body: { output_config, output_format } }: MessagesRequest): FieldNames =>
  output_format && !output_config?.format ? olderNames : fieldNames;

// A new message instead would be another answer.
class PrefillUnsupported extends ApiError {
  constructor(model: string) {
    super({
      status: 400,
      type: 'invalid_request_error',
      code: 'unsupported_parameter',
      param: 'messages',
      message: `The model '${model}' can't continue an assistant message (prefill). Add a user message at the end.`,
    });
  }
}

// A request in a thread has only the new messages. Anthropic's clients send all of them after an error with this code.
class ThreadUnsupported extends ApiError {
  constructor() {
    const message = 'Conversations are not stored. Send all messages, without thread.';
    super({ status: 400, type: 'invalid_request_error', code: 'thread_unsupported_request', param: 'thread', message });
  }
}

/** Rejects a request that asks for something that its model does not support. @throws 400 */
export const checkMessages = (request: MessagesRequest, model: Model, maxTokens: number): void => {
  if (request.body.thread != null) throw new ThreadUnsupported();
  if (request.conversation.continues && !dialectOf(model).continuesLastMessage) throw new PrefillUnsupported(model.name);
  checkSupport(toChatSettings(request, maxTokens), model, maxTokens, fieldNamesOf(request));
};

// Anthropic's fields without effect here.
const FOREIGN = [
  'anthropic_beta',
  'anthropic_version',
  'betas',
  'cache_control',
  'context_management',
  'diagnostics',
  'inference_geo',
  'service_tier',
  'speed',
  'user_profile_id',
  'workspace_id',
];
const DISPLAY = 'thinking.display';
const blockField = (type: string): string => `messages.${type}`;

const documentedNames: ReadonlySet<string> = new Set([
  ...knownFields,
  ...FOREIGN,
  ...Object.values(fieldNames),
  ...droppedBlocks.map(blockField),
  'thinking.budget_tokens',
  DISPLAY,
]);

/** True if a name is one of the fields of Anthropic's API. */
export const isMessagesField = (name: string): boolean => documentedNames.has(name);

/** The fields that were accepted but have no effect on this model. */
export const ignoredMessagesFields = (request: MessagesRequest, model: Model): string[] => {
  const { body, conversation } = request;
  const { thinking, output_config } = body;
  const names = fieldNamesOf(request);
  const hidesThinking = thinking != null && 'display' in thinking && thinking.display === 'omitted';
  return [
    ...Object.entries(body).flatMap(([name, value]) => (value == null || knownFields.has(name) ? [] : [name])),
    ...ignoredFields(toChatSettings(request), model).map((name) => nameOf(name, names)),
    ...(output_config?.effort && !isThinking(body) ? [nameOf('reasoning_effort', names)] : []),
    // The text always goes out: without it, a client could not send the reasoning between two calls back.
    ...(hidesThinking ? [DISPLAY] : []),
    ...Array.from(conversation.dropped, blockField),
  ];
};
