import { InvalidRequest } from '../../../shared/http/errors.ts';
import type { Dependencies, Serve } from '../pipeline/dependencies.ts';

/** Counts the input tokens of a message. */
export const countTokens =
  (_path: string, _deps: Pick<Dependencies, 'host' | 'modelsOf' | 'keys' | 'tokenizer' | 'now'>): Serve =>
  async () => {
    throw new InvalidRequest({ message: 'This route is not ready. Use chat completions.' });
  };
