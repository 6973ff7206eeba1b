import { InvalidRequest } from '../http/errors.ts';
import { MAX_ANSWER_TOKENS } from './answers.ts';

const MAX_WORDS = 300;

/** A chat template does not take a prompt, as in "Conversation roles must alternate". The message has its words. */
export class TemplateRefused extends Error {
  override readonly name: string = 'TemplateRefused';
}

/** A chat template, or what renders it, broke on a prompt. The cause is for the log: it may be the template's fault or the prompt's. */
export class TemplateFailed extends TemplateRefused {
  override readonly name = 'TemplateFailed';

  constructor(cause: unknown) {
    super('it cannot be rendered with these messages, tools and tool call arguments.', { cause });
  }
}

/** The same, as a caller is told it: 400. */
export class PromptRefused extends InvalidRequest {
  constructor(words: string) {
    super({ message: `The model's chat template rejected the messages: ${words.slice(0, MAX_WORDS)}`, param: 'messages' });
  }
}

/** A text that a tokenizer would take longer for than anybody waits. The message says what it has. */
export class TextRefused extends Error {
  override readonly name = 'TextRefused';
}

/** The same, as a caller is told it: 400. */
export class Untokenizable extends InvalidRequest {
  constructor(param: 'prompt' | 'messages', words: string) {
    super({ message: `The text cannot be tokenized: it has ${words.slice(0, MAX_WORDS)}.`, param });
  }
}

/** A token id that is none of the model's: 400, naming its place. */
export class UnknownTokenId extends InvalidRequest {
  constructor(place: number, id: number | undefined) {
    super({ message: `Invalid value for 'tokens[${place}]': ${id} is not a token id of this model.`, param: `tokens[${place}]` });
  }
}

/** More tokens, or a longer text, than one reply holds: 400. */
export class TooLargeToTokenize extends InvalidRequest {
  constructor(param: 'prompt' | 'messages' | 'tokens') {
    super({
      param,
      message: `The response for '${param}' would be too large: a response can hold ${MAX_ANSWER_TOKENS} tokens and about 5 MB, token strings included. Split '${param}' into several requests.`,
    });
  }
}
