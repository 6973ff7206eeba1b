import { reasoningOf, textOf, type UpstreamChoice, type UpstreamToolCall } from '../../../shared/upstream/chunk.ts';

/** Log probabilities: one list of entries in a chat, several parallel lists in a plain completion. */
export type Logprobs = Record<string, unknown[]>;

/** A part of a choice's output, with its tokens' log probabilities and ids. */
export interface OutputPart {
  /** The kind of the text; for a call the text is its arguments; undefined: there is no text. */
  kind?: 'reasoning' | 'content' | 'call';
  text: string;
  call?: Pick<UpstreamToolCall, 'index' | 'id'> & { name: string };
  logprobs?: Logprobs | undefined;
  tokenIds?: readonly number[] | undefined;
  promptTokenIds?: readonly number[] | undefined;
}

const COMPLETION_LISTS = ['tokens', 'token_logprobs', 'top_logprobs', 'text_offset'];

const logprobsOf = ({ logprobs }: UpstreamChoice): Logprobs | undefined => {
  if (typeof logprobs !== 'object' || logprobs === null) return undefined;
  const given = logprobs as Record<string, unknown>;
  const lists: Logprobs = {};
  if (Array.isArray(given.content) && given.content.length > 0) lists.content = given.content;
  if (Array.isArray(given.tokens)) {
    for (const name of COMPLETION_LISTS) if (Array.isArray(given[name])) lists[name] = given[name];
  }
  return Object.keys(lists).length > 0 ? lists : undefined;
};

export const idsOf = (ids: unknown): readonly number[] | undefined => (Array.isArray(ids) ? ids : undefined);

const argumentsOf = (given: unknown): string => (typeof given === 'object' && given !== null ? JSON.stringify(given) : textOf(given));

const callPartOf = ({ index, id, function: called }: UpstreamToolCall): OutputPart => ({
  kind: 'call',
  text: argumentsOf(called?.arguments),
  call: { ...(index != null && { index }), ...(id && { id }), name: textOf(called?.name) },
});

/**
 * The parts of a choice in the order in which mappers read them: reasoning, text, calls. Log probabilities and token
 * ids go with the text, as in the Responses API; without a text they go with the first part.
 */
export const outputPartsOf = (choice: UpstreamChoice): OutputPart[] => {
  const { delta } = choice;
  const parts: OutputPart[] = [];
  const reasoning = delta ? reasoningOf(delta) : '';
  if (reasoning) parts.push({ kind: 'reasoning', text: reasoning });
  const content = textOf(delta?.content);
  if (content) parts.push({ kind: 'content', text: content });
  if (Array.isArray(delta?.tool_calls)) parts.push(...delta.tool_calls.map(callPartOf));
  const tokenFacts = {
    logprobs: logprobsOf(choice),
    tokenIds: idsOf(choice.token_ids),
    promptTokenIds: idsOf(choice.prompt_token_ids),
  };
  const owner = parts.find(({ kind }) => kind === 'content') ?? parts[0];
  if (owner) Object.assign(owner, tokenFacts);
  else if (tokenFacts.logprobs || tokenFacts.tokenIds || tokenFacts.promptTokenIds) parts.push({ text: '', ...tokenFacts });
  return parts;
};
