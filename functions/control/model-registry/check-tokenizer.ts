import { FunctionError, FunctionUnavailable } from '../../../shared/aws/function-errors.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { logError } from '../../../shared/logging/log.ts';
import type { ModelTask, TokenizerFiles } from '../../../shared/models/model.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import { type Finding, failing, passing } from './finding.ts';
import { PROBE_TEXT } from './probe-pooling.ts';
import { PROBE_PROMPT, shortenError } from './send-probe.ts';

type Counter = Pick<Tokenizer, 'fit' | 'count'>;

const FUNCTION_NAME = /^The function \S+ failed: /;

interface ToCheck {
  files: TokenizerFiles;
  model: string;
  task?: ModelTask;
  organization?: string;
}

// The query and the document of a request to rank documents are read together, which no tokenizer file describes.
const countText = async (tokenizer: Counter, files: TokenizerFiles, task: ModelTask): Promise<Finding> => {
  const { text_tokens, special_tokens = 0 } = await tokenizer.count({ files, prompt: null, texts: [PROBE_TEXT] });
  const tokens = (text_tokens[0] ?? 0) + special_tokens;
  const counted = passing(`The tokenizer counted ${tokens} tokens in a short text.`);
  return task === 'embed' ? { ...counted, promptTokens: tokens } : counted;
};

/**
 * Counts a conversation with one short message, or a short text if the model generates none.
 * @throws FunctionUnavailable (503) if the function `tokenizer` is out of reach
 */
export const checkTokenizer = async (
  { tokenizer }: { tokenizer: Counter },
  { files, model, task = 'generate', organization }: ToCheck,
): Promise<Finding> => {
  const question = { files, prompt: PROBE_PROMPT, max_prompt_tokens: null, ...(organization !== undefined && { organization }) };
  try {
    if (task !== 'generate') return await countText(tokenizer, files, task);
    const { prompt_tokens: tokens } = await tokenizer.fit(question);
    if (!tokens) return failing('The chat template does not render a short message. Correct the file and register it again.');
    return { ...passing(`The tokenizer counted ${tokens} tokens in a conversation with one short message.`), promptTokens: tokens };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!(error instanceof FunctionUnavailable)) return failing(error.message);
    logError('tokenizer_check_failed', error.cause, { model });
    if (!(error.cause instanceof FunctionError)) throw error;
    return failing(
      `The tokenizer's files cannot be used: ${shortenError(error.cause.message.replace(FUNCTION_NAME, ''))}. Register corrected files.`,
    );
  }
};
