import { InvalidRequest } from '../http/errors.ts';

const MAX_WORDS = 300;

/** A chat template could not be rendered with a prompt, as in "Conversation roles must alternate". The message has its words. */
export class TemplateRefused extends Error {
  override readonly name = 'TemplateRefused';
}

/** The same, as a caller is told it: 400. */
export class PromptRefused extends InvalidRequest {
  constructor(words: string) {
    super({ message: `The model's chat template refuses the messages: ${words.slice(0, MAX_WORDS)}`, param: 'messages' });
  }
}
