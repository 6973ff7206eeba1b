import { ContextLengthExceeded, type ExceededFacts } from '../pipeline/context-length-exceeded.ts';

/** A prompt that leaves no room for an answer, in the words by which Claude Code knows that it must compact. */
export class PromptTooLong extends ContextLengthExceeded {
  constructor(facts: ExceededFacts) {
    const { promptTokens = 0, windowTokens } = facts;
    const maxTokens = Math.min(windowTokens, promptTokens - 1);
    super(facts, `prompt is too long: ${promptTokens} tokens > ${maxTokens} maximum. Shorten the messages, or start a new conversation.`);
  }
}
