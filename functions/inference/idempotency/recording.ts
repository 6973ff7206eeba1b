import type { UpstreamChoice, UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import { idsOf, type OutputPart, outputPartsOf } from './output-parts.ts';
import { addTo, charactersOf, continues, type ResultChunk, toChoice } from './result-chunks.ts';

// A longer answer is not recorded.
const MAX_CHARACTERS = 8_000_000;
// The length of a chunk without its content.
const CHUNK_CHARACTERS = 100;

interface ChoiceState {
  last: ResultChunk;
  promptTokenIds?: readonly number[];
  hasFinished: boolean;
}

const isSame = (some: readonly number[] | undefined, others: readonly number[]): boolean =>
  some?.length === others.length && some.every((id, position) => id === others[position]);

/**
 * Records an answer in as few chunks as possible. Every mapper makes the same object from them, and an equivalent
 * stream. Each choice keeps its order; only the last usage and measurements stay, and no fields that mappers don't
 * read.
 */
export const createRecording = () => {
  const choices = new Map<number, ChoiceState>();
  const merged: { content: ResultChunk; promptTokenIds?: readonly number[] }[] = [];
  // Wait for the next chunk that can carry them: a stream sends the prompt's token ids when its choices begin.
  let pendingPromptIds: readonly number[] | undefined;
  let promptTokenIds: readonly number[] | undefined;
  let last: Pick<UpstreamChunk, 'usage' | 'metrics'> = {};
  let characters = 0;

  const open = (index: number): ResultChunk => {
    const content: ResultChunk = { index, texts: [], characters: 0 };
    merged.push({ content, ...(pendingPromptIds && { promptTokenIds: pendingPromptIds }) });
    pendingPromptIds = undefined;
    characters += CHUNK_CHARACTERS;
    return content;
  };

  const begin = (index: number, role: unknown): ChoiceState => {
    const state: ChoiceState = { last: open(index), hasFinished: false };
    if (typeof role === 'string') state.last.role = role;
    choices.set(index, state);
    return state;
  };

  // A runtime may repeat the prompt's token ids with every chunk.
  const withoutRepeated = (part: OutputPart, state: ChoiceState): OutputPart => {
    if (!part.promptTokenIds || !isSame(state.promptTokenIds, part.promptTokenIds)) return part;
    return { ...part, promptTokenIds: undefined };
  };

  const takePart = (given: OutputPart, index: number, state: ChoiceState): void => {
    const part = withoutRepeated(given, state);
    if (part.promptTokenIds) state.promptTokenIds = part.promptTokenIds;
    if (!continues(state.last, part)) state.last = open(index);
    characters += addTo(state.last, part);
  };

  const takeChoice = (choice: UpstreamChoice): void => {
    const index = Number(choice.index ?? 0);
    const state = choices.get(index) ?? begin(index, choice.delta?.role);
    if (state.hasFinished) return;
    for (const part of outputPartsOf(choice)) takePart(part, index, state);
    if (!choice.finish_reason) return;
    state.hasFinished = true;
    const { finish_reason, stop_reason } = choice;
    open(index).end = { finish_reason, ...(stop_reason != null && { stop_reason }) };
  };

  const takeChunk = (chunk: UpstreamChunk): void => {
    const ids = idsOf(chunk.prompt_token_ids);
    if (ids && !isSame(promptTokenIds, ids)) {
      promptTokenIds = ids;
      pendingPromptIds = ids;
      characters += charactersOf({ text: '', promptTokenIds: ids });
    }
    if (chunk.usage) last = { ...last, usage: chunk.usage };
    if (chunk.metrics) last = { ...last, metrics: chunk.metrics };
    for (const choice of chunk.choices ?? []) takeChoice(choice);
  };

  return {
    /** Records chunks without changing them. */
    take: (chunks: readonly UpstreamChunk[]): void => {
      for (const chunk of chunks) if (characters <= MAX_CHARACTERS) takeChunk(chunk);
      if (characters <= MAX_CHARACTERS) return;
      merged.length = 0;
      choices.clear();
    },

    /** The merged chunks; undefined if the answer had more than 8,000,000 characters. */
    chunks: (): UpstreamChunk[] | undefined => {
      if (characters > MAX_CHARACTERS) return undefined;
      const contents = merged.map(({ content, promptTokenIds: ids }) => ({
        choices: [toChoice(content)],
        ...(ids && { prompt_token_ids: [...ids] }),
      }));
      const rest = { ...last, ...(pendingPromptIds && { prompt_token_ids: [...pendingPromptIds] }) };
      return Object.keys(rest).length > 0 ? [...contents, { choices: [], ...rest }] : contents;
    },
  };
};
