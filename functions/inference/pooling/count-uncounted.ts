import { setTimeout as delay } from 'node:timers/promises';
import { logError } from '../../../shared/logging/log.ts';
import type { TextPrompt } from '../../../shared/tokens/prompt.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import type { Candidate } from '../fallback/candidate.ts';
import type { AdmittedRequest } from '../pipeline/admit-request.ts';
import type { PreparedRequest } from '../pipeline/prepare-request.ts';
import { countPromptTexts } from './fit-texts.ts';

// The time that the model's tokenizer has to count what the runtime did not.
const COUNT_MS = 5_000;

/** Counts a prompt that the runtime answered without a possible count. If that fails, its estimate is used. */
export const countUncounted = async <Request>(
  tokenizer: Pick<Tokenizer, 'count'>,
  { event, usage }: Pick<AdmittedRequest<Request, TextPrompt>, 'event' | 'usage'>,
  { model, prepared }: Candidate<PreparedRequest<TextPrompt>>,
): Promise<void> => {
  const { prompt } = prepared;
  if (!model.tokenizer) return;
  const late = new AbortController();
  try {
    const counting = countPromptTexts(tokenizer, model.tokenizer, prompt, [...prompt.texts.keys()]);
    const counts = await Promise.race([counting, delay(COUNT_MS, undefined, { signal: late.signal })]);
    if (counts) usage.fitted({ prompt, maxTokens: 0, promptTokens: counts.reduce((sum, tokens) => sum + tokens, 0) });
  } catch (error) {
    logError('count_failed', error, { request_id: event.requestId, ...event.sender, model: model.name });
  } finally {
    late.abort();
  }
};
