import { reasoningOf, textOf, type UpstreamChoice, type UpstreamToolCall } from '../../../shared/upstream/chunk.ts';

/** Log probabilities: one list of entries in a chat, a list for each fact in a plain completion. */
export type Logprobs = Record<string, unknown[]>;

/** One thing that a choice says, and what is told of its tokens. */
export interface Piece {
  /** What the text is: nothing at all, or of a call its arguments. */
  kind?: 'reasoning' | 'content' | 'call';
  text: string;
  call?: Pick<UpstreamToolCall, 'index' | 'id'> & { name: string };
  logprobs?: Logprobs | undefined;
  tokenIds?: readonly number[] | undefined;
  promptTokenIds?: readonly number[] | undefined;
}

const COMPLETION_LISTS = ['tokens', 'token_logprobs', 'top_logprobs', 'text_offset'];

/** The lists that the mappers read; undefined where they read none. */
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

/** Token ids, if they are a list. */
export const idsOf = (ids: unknown): readonly number[] | undefined => (Array.isArray(ids) ? ids : undefined);

const argumentsOf = (given: unknown): string => (typeof given === 'object' && given !== null ? JSON.stringify(given) : textOf(given));

const callPieceOf = ({ index, id, function: called }: UpstreamToolCall): Piece => ({
  kind: 'call',
  text: argumentsOf(called?.arguments),
  call: { ...(index != null && { index }), ...(id && { id }), name: textOf(called?.name) },
});

/**
 * What a choice says in the order in which mappers read it: reasoning, text, calls. What is told of tokens goes with the text, because a
 * response takes log probabilities for its text's wherever there is one; without a text it goes with the first piece.
 */
export const piecesOf = (choice: UpstreamChoice): Piece[] => {
  const { delta } = choice;
  const pieces: Piece[] = [];
  const reasoning = delta ? reasoningOf(delta) : '';
  if (reasoning) pieces.push({ kind: 'reasoning', text: reasoning });
  const content = textOf(delta?.content);
  if (content) pieces.push({ kind: 'content', text: content });
  if (Array.isArray(delta?.tool_calls)) pieces.push(...delta.tool_calls.map(callPieceOf));
  const told = {
    logprobs: logprobsOf(choice),
    tokenIds: idsOf(choice.token_ids),
    promptTokenIds: idsOf(choice.prompt_token_ids),
  };
  const teller = pieces.find(({ kind }) => kind === 'content') ?? pieces[0];
  if (teller) Object.assign(teller, told);
  else if (told.logprobs || told.tokenIds || told.promptTokenIds) pieces.push({ text: '', ...told });
  return pieces;
};
