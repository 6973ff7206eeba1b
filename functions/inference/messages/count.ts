import { presentedKey } from '../../../shared/admission/keys/authenticate.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { jsonReply } from '../../../shared/http/reply.ts';
import { logError } from '../../../shared/logging/log.ts';
import { deprecationHeaders } from '../../../shared/models/deprecation.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';
import { forDeployments, type Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import { type Admission, admit, type Keys, release } from '../admission/admit.ts';
import type { Dependencies, Serve } from '../pipeline/dependencies.ts';
import { checkTask } from '../pipeline/model-task.ts';
import { parseRequest } from '../pipeline/parse-request.ts';
import { ignoredHeader, resolveMaxTokens } from '../pipeline/prepare-request.ts';
import { countRequest, type MessagesRequest } from './request.ts';
import { checkMessages, ignoredMessagesFields } from './support.ts';
import { messagesPrompt } from './to-chat.ts';

// Taken from the key's limit while the count lasts.
const RESERVED_TOKENS = 1;

// At a 404, Claude Code estimates instead.
class NotCountable extends ApiError {
  constructor(model: string) {
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'tokens_not_countable',
      param: 'model',
      message: `Tokens can't be counted for the model '${model}': it has no tokenizer here that can render the messages. Estimate them instead, or ask your administrator to add one.`,
    });
  }
}

const countPrompt = async (tokenizer: Tokenizer, { name, tokenizer: files }: Model, prompt: ChatPrompt): Promise<number> => {
  const counted = files && (await tokenizer.fit({ files, prompt, max_prompt_tokens: null }));
  if (!counted || counted.prompt_tokens === null) throw new NotCountable(name);
  return counted.prompt_tokens;
};

// If this fails, the sweep undoes the reservation later.
const giveBack = async (keys: Keys, admission: Admission): Promise<void> => {
  try {
    await release(keys, admission, 'undone');
  } catch (error) {
    logError('undo_failed', error, { request_id: admission.requestId, key_id: admission.keyId, org_id: admission.organization });
  }
};

/**
 * Counts the tokens of a message's prompt, exactly as the same request is charged. It is in flight while it lasts, so
 * that nobody can have more tokenizers than their share, and then leaves no trace in the key's limits (decision 0087).
 */
export const countTokens =
  (_: string, deps: Pick<Dependencies, 'host' | 'modelsOf' | 'keys' | 'tokenizer' | 'now'>): Serve =>
  async (event) => {
    const key = presentedKey(event, deps.host);
    const prepare = (request: MessagesRequest, model: Model): ChatPrompt => {
      checkTask(model);
      checkMessages(request, model, resolveMaxTokens(request.body.max_tokens ?? undefined, model));
      return messagesPrompt(request, model);
    };
    const { request, model, prepared: prompt, authenticated } = await parseRequest({ schema: countRequest }, prepare, deps, key, event);
    const { requestId } = event;
    const admission = await admit(deps.keys, {
      key,
      model: model.name,
      requestId,
      tokens: RESERVED_TOKENS,
      maxCostNanos: () => 0n,
      isFree: true,
      authenticated,
    });
    const headers = {
      ...admission.headers,
      ...ignoredHeader(ignoredMessagesFields(request, model)),
      ...deprecationHeaders(model),
    };
    const tokenizer = deps.host.scope === 'on_demand' ? forDeployments(deps.tokenizer, admission.organization) : deps.tokenizer;
    try {
      return jsonReply(requestId, 200, { input_tokens: await countPrompt(tokenizer, model, prompt) }, headers);
    } catch (error) {
      throw error instanceof ApiError ? error.withHeaders(headers) : error;
    } finally {
      await giveBack(deps.keys, admission);
    }
  };
