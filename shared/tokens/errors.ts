import { ApiError, InvalidRequest, InvalidValue } from '../http/errors.ts';
import { MAX_ANSWER_TOKENS } from './answers.ts';

const MAX_WORDS = 300;

/**
 * A chat template rejected a prompt, for instance with "Conversation roles must alternate". The message has the
 * template's text.
 */
export class TemplateRefused extends Error {
  override readonly name: string = 'TemplateRefused';
}

/** Rendering a chat template failed. The cause is for the log: it can be the template's fault or the prompt's. */
export class TemplateFailed extends TemplateRefused {
  override readonly name = 'TemplateFailed';

  /** @param words the fault, as callers read it */
  constructor(cause: unknown, words = 'it cannot be rendered with these messages, tools and tool call arguments.') {
    super(words, { cause });
  }
}

/** A chat template rejected the messages: 400. */
export class PromptRefused extends InvalidRequest {
  constructor(words: string) {
    const reason = words.slice(0, MAX_WORDS).replace(/\.$/, '');
    super({ message: `The model's chat template rejected the messages: ${reason}. Change them accordingly.`, param: 'messages' });
  }
}

/** A text that would take too long to tokenize. The message says why. */
export class TextRefused extends Error {
  override readonly name = 'TextRefused';
}

/** A text would take too long to tokenize: 400. */
export class Untokenizable extends InvalidRequest {
  constructor(param: 'prompt' | 'messages', words: string) {
    super({ message: `The text cannot be tokenized: it has ${words.slice(0, MAX_WORDS)}. Shorten or split it.`, param });
  }
}

/** A token id that is not in the model's vocabulary: 400, with its index. */
export class UnknownTokenId extends InvalidValue {
  constructor(place: number, id: number | undefined) {
    super(`tokens[${place}]`, `expected a token id of this model, got ${id}`);
  }
}

/** More tokens, or a longer text, than one reply can have: 400. */
export class TooLargeToTokenize extends InvalidRequest {
  constructor(param: 'prompt' | 'messages' | 'tokens') {
    super({
      param,
      message: `The response for '${param}' would be too large: a response can hold ${MAX_ANSWER_TOKENS} tokens and about 5 MB, token strings included. Split '${param}' into several requests.`,
    });
  }
}

/** A prompt that is larger than one function can send to another: 413. */
export class TooLargeToCount extends ApiError {
  constructor() {
    super({
      status: 413,
      type: 'invalid_request_error',
      code: 'request_too_large',
      message:
        'The messages are too large to count: together with tools and tool call arguments, they can have about 6 MB at most. Shorten them.',
    });
  }
}
