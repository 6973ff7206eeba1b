import { FunctionError, FunctionUnavailable } from '../../../shared/aws/function-errors.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { logError } from '../../../shared/logging/log.ts';
import type { TokenizerFiles } from '../../../shared/models/model.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import { type Finding, failing, passing } from './finding.ts';
import { PROBE_PROMPT, shortenError } from './send-probe.ts';

const FUNCTION_NAME = /^The function \S+ failed: /;

interface ToCheck {
  files: TokenizerFiles;
  model: string;
  organization?: string;
}

/**
 * Counts a conversation with one short message. @throws FunctionUnavailable (503) if the function `tokenizer` is out
 * of reach
 */
export const checkTokenizer = async (
  { tokenizer }: { tokenizer: Pick<Tokenizer, 'fit'> },
  { files, model, organization }: ToCheck,
): Promise<Finding> => {
  const question = { files, prompt: PROBE_PROMPT, max_prompt_tokens: null, ...(organization !== undefined && { organization }) };
  try {
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
