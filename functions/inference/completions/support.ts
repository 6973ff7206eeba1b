import { InvalidRequest } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { ignored, ours, passed, refused, type Treatment } from '../../../shared/upstream/dialects/dialect.ts';
import { dialects } from '../../../shared/upstream/dialects/index.ts';
import { checkLogprobsSize } from '../chat/logprobs-size.ts';
import type { ChatField } from '../chat/request.ts';
import { checkTokenIds, isPassed, UnsupportedByModel } from '../chat/support.ts';
import { maxPromptTokens, measurePrompt } from '../pipeline/prompt-size.ts';
import { type CompletionField, type CompletionRequest, completionFields, promptsOf } from './request.ts';

/** Where a plain completion differs from a chat. */
const OWN: Partial<Record<CompletionField, Treatment>> = { prompt: ours, echo: passed, best_of: ignored, suffix: refused };

/** What becomes of a completion's property at a runtime: as in a chat, but for the few that differ. */
export const treatmentOf = (field: CompletionField, { fields }: { fields: Readonly<Record<ChatField, Treatment>> }): Treatment =>
  OWN[field] ?? fields[field as ChatField];

/** The most tokens that a completion has where it says nothing of it: as OpenAI and vLLM have it. */
const DEFAULT_TOKENS = 16;

/** The most tokens of each choice, if the caller says it or not. */
export const maxTokensOf = ({ max_tokens }: CompletionRequest): number => max_tokens ?? DEFAULT_TOKENS;

/** A runtime sends an echoed prompt in one piece, even in a stream. */
const checkLogprobs = (request: CompletionRequest, model: Model, maxTokens: number): void => {
  const { logprobs, echo, stream, n } = request;
  if (logprobs == null) return;
  const prompt = { texts: promptsOf(request) };
  const size = echo ? measurePrompt(prompt) : { bytes: 0, allTokens: 0, longestTokens: 0 };
  const written = prompt.texts.length * maxTokens;
  const inOnePiece = {
    tokens: (n ?? 1) * (written + maxPromptTokens(prompt, size, model)),
    formula: `(choices × max_tokens${echo ? ' + choices × tokens of the prompt' : ''}) × (logprobs + 1)`,
    holder: 'a response without streaming',
    remedy: 'Send stream: true or request fewer.',
  };
  const inOneEvent = {
    tokens: Math.min(size.longestTokens, model.context_length),
    formula: 'tokens of the prompt × (logprobs + 1)',
    holder: 'an echoed prompt',
    remedy: 'Send a shorter prompt, send token ids instead of text, or request fewer.',
  };
  checkLogprobsSize({ ...(stream ? inOneEvent : inOnePiece), top: logprobs, param: 'logprobs' });
};

/** Rejects what the request asks for and its model can't do. @throws 400 */
export const checkCompletion = (request: CompletionRequest, model: Model, maxTokens: number): void => {
  if (!model.capabilities.logprobs && request.logprobs != null) throw new UnsupportedByModel('logprobs', model.name);
  checkLogprobs(request, model, maxTokens);
  checkTokenIds(request, model);
  const size = model.tokenizer?.vocabulary_size;
  for (const text of promptsOf(request)) {
    if (typeof text === 'string') continue;
    // Without the size of the vocabulary nobody knows what an id would do to the runtime.
    if (size === undefined) throw new UnsupportedByModel('prompt', model.name);
    const wrong = text.find((id) => id >= size);
    if (wrong !== undefined)
      throw new InvalidRequest({
        param: 'prompt',
        message: `Invalid value for 'prompt': the model's token ids are 0 to ${size - 1}, got ${wrong}.`,
      });
  }
};

const known = new Set<string>(completionFields);

/** The properties of a request that were accepted and have no effect on this model. */
export const ignoredCompletionFields = (request: CompletionRequest, model: Model): string[] => {
  const dialect = dialects[model.dialect];
  const passedOn = new Set<string>(dialect.extras.filter((name) => isPassed(name, model)));
  return Object.entries(request).flatMap(([name, value]) => {
    if (value == null) return [];
    if (known.has(name)) return treatmentOf(name as CompletionField, dialect).how === 'ignored' ? [name] : [];
    return passedOn.has(name) ? [] : [name];
  });
};
