import { InvalidValue } from '../../../shared/http/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { ignored, ours, passed, refused, type Treatment } from '../../../shared/upstream/dialect.ts';
import { dialectOf } from '../../../shared/upstream/dialects.ts';
import { checkLogprobsSize } from '../chat/logprobs-size.ts';
import type { ChatField } from '../chat/request.ts';
import { checkTokenIds, ignoredStreamOptions, isChatField, isPassed } from '../chat/support.ts';
import { UnsupportedByModel } from '../chat/unsupported-by-model.ts';
import { maxPromptTokens, measurePrompt } from '../pipeline/prompt-size.ts';
import { type CompletionField, type CompletionRequest, completionFields, promptsOf } from './request.ts';

const OWN: Partial<Record<CompletionField, Treatment>> = { prompt: ours, echo: passed, best_of: ignored, suffix: refused };

/** The treatment of a completion's field: as in a chat completion, except for those in OWN. */
export const treatmentOf = (
  field: CompletionField,
  {
    fields,
    completionFields: own,
  }: { fields: Readonly<Record<ChatField, Treatment>>; completionFields?: Readonly<Record<string, Treatment>> },
): Treatment => own?.[field] ?? OWN[field] ?? fields[field as ChatField];

// As in OpenAI's API and vLLM.
const DEFAULT_TOKENS = 16;

export const maxTokensOf = ({ max_tokens }: CompletionRequest): number => max_tokens ?? DEFAULT_TOKENS;

// A runtime sends an echoed prompt in one event, even in a stream.
const checkLogprobs = (request: CompletionRequest, model: Model, maxTokens: number): void => {
  const { logprobs, echo, stream, n } = request;
  if (logprobs == null) return;
  const prompt = { texts: promptsOf(request) };
  const size = echo ? measurePrompt(prompt) : { bytes: 0, allTokens: 0, longestTokens: 0 };
  const written = prompt.texts.length * maxTokens;
  const inOnePiece = {
    tokens: (n ?? 1) * (written + maxPromptTokens(prompt, size, model)),
    formula: `choices × ${echo ? '(max_tokens + tokens of the prompt)' : 'max_tokens'} × (logprobs + 1)`,
    holder: 'a response without streaming',
    remedy: 'Send stream: true or request fewer.',
  };
  const inOneEvent = {
    tokens: Math.min(size.longestTokens, model.context_length),
    formula: 'tokens of the prompt × (logprobs + 1)',
    holder: 'an echoed prompt',
    remedy: 'Shorten the prompt, send token ids or request fewer.',
  };
  checkLogprobsSize({ ...(stream ? inOneEvent : inOnePiece), top: logprobs, param: 'logprobs' });
};

/** Rejects a request for something the model does not support. @throws 400 */
export const checkCompletion = (request: CompletionRequest, model: Model, maxTokens: number): void => {
  if (!model.capabilities.logprobs && request.logprobs != null) throw new UnsupportedByModel('logprobs', model.name);
  const dialect = dialectOf(model);
  for (const name of completionFields) {
    const isOn = request[name] && !(name === 'n' && request.n === 1);
    if (isOn && treatmentOf(name, dialect).how === 'refused') throw new UnsupportedByModel(name, model.name);
  }
  checkLogprobs(request, model, maxTokens);
  checkTokenIds(request, model);
  const size = model.tokenizer?.vocabulary_size;
  for (const text of promptsOf(request)) {
    if (typeof text === 'string') continue;
    // Without the vocabulary size ids can't be validated, and an invalid id can crash the runtime.
    if (size === undefined) throw new UnsupportedByModel('prompt', model.name);
    const wrong = text.find((id) => id >= size);
    if (wrong !== undefined) throw new InvalidValue('prompt', `expected token ids of this model, 0 to ${size - 1}, got ${wrong}`);
  }
};

const known = new Set<string>(completionFields);

/** True if a name is one of a completion's fields. */
export const isCompletionField = (name: string): boolean => known.has(name) || isChatField(name);

/** The fields of a request that were accepted but have no effect on this model. */
export const ignoredCompletionFields = (request: CompletionRequest, model: Model): string[] => {
  const dialect = dialectOf(model);
  const passedOn = new Set<string>(dialect.extras.filter((name) => isPassed(name, model)));
  const ignoredNames = Object.entries(request).flatMap(([name, value]) => {
    if (value == null) return [];
    if (known.has(name)) return treatmentOf(name as CompletionField, dialect).how === 'ignored' ? [name] : [];
    return passedOn.has(name) ? [] : [name];
  });
  return [...ignoredNames, ...ignoredStreamOptions(request)];
};
