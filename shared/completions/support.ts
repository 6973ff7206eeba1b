import { checkTokenIds, isPassed, UnsupportedByModel } from '../chat/support.ts';
import { InvalidRequest } from '../http/errors.ts';
import type { Model } from '../models/model.ts';
import { type Dialect, ignored, ours, passed, refused, type Treatment } from '../upstream/dialects/dialect.ts';
import { dialects } from '../upstream/dialects/index.ts';
import { type CompletionField, type CompletionRequest, completionFields, promptsOf } from './request.ts';

/** Where a plain completion differs from a chat. */
const OWN: Partial<Record<CompletionField, Treatment>> = { prompt: ours, echo: passed, best_of: ignored, suffix: refused };

/** What becomes of a completion's property at a runtime: as in a chat, but for the few that differ. */
export const treatmentOf = (field: CompletionField, dialect: Dialect): Treatment =>
  OWN[field] ?? dialect.fields[field as keyof Dialect['fields']];

/** 400 when the request asks for what its model cannot do. */
export const checkCompletion = (request: CompletionRequest, model: Model): void => {
  if (!model.capabilities.logprobs && request.logprobs != null) throw new UnsupportedByModel('logprobs', model.name);
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
