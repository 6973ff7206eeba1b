import type { UpstreamChoice, UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import { idsOf, type OutputPart, outputPartsOf } from './output-parts.ts';
import { addTo, charactersOf, continues, type ResultChunk, toChoice } from './result-chunks.ts';

/** A longer answer is not recorded. */
const MAX_CHARACTERS = 8_000_000;
/** The length of a chunk without its content. */
const CHUNK_CHARACTERS = 100;

/** One choice that is still being streamed. */
interface ChoiceState {
  last: ResultChunk;
  promptTokenIds?: readonly number[];
  hasFinished: boolean;
}

const isSame = (some: readonly number[] | undefined, others: readonly number[]): boolean =>
  some?.length === others.length && some.every((id, position) => id === others[position]);

/**
 * Records an answer's chunks, merged into as few as possible with the same content: every mapper creates the same object from them, and an
 * equivalent stream. Each choice keeps its order. Only the last usage and the last measurements of a runtime are kept. Fields that no mapper reads
 * are dropped, and so are answers of more than 8,000,000 characters.
 */
export const createRecording = () => {
  const choices = new Map<number, ChoiceState>();
  const merged: { content: ResultChunk; promptTokenIds?: readonly number[] }[] = [];
  /** The token ids of the prompt, until the next chunk that can carry them: a stream sends them when its choices begin. */
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

  /** A runtime may repeat the prompt's token ids with every chunk. */
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

    /** The merged chunks; undefined if the answer was too long. */
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
