import type { UpstreamChoice, UpstreamDelta } from '../../../shared/upstream/chunk.ts';
import type { Logprobs, OutputPart } from './output-parts.ts';

// Longer chunks aren't extended: clients read a chunk as one line, and mappers pass its lists as function arguments.
const MAX_CHUNK_CHARACTERS = 65_536;
// The length of a token id with its comma.
const ID_CHARACTERS = 8;

/** Consecutive parts of one choice, which become one stored chunk. */
export interface ResultChunk {
  index: number;
  role?: string;
  kind?: OutputPart['kind'];
  call?: OutputPart['call'];
  texts: string[];
  logprobs?: Logprobs;
  tokenIds?: number[];
  promptTokenIds?: readonly number[];
  end?: Pick<UpstreamChoice, 'finish_reason' | 'stop_reason'>;
  characters: number;
}

/** The approximate length of a part in JSON, in characters. */
export const charactersOf = ({ text, call, logprobs, tokenIds, promptTokenIds }: OutputPart): number =>
  text.length +
  (call ? call.name.length + (call.id?.length ?? 0) : 0) +
  (logprobs ? JSON.stringify(logprobs).length : 0) +
  ID_CHARACTERS * ((tokenIds?.length ?? 0) + (promptTokenIds?.length ?? 0));

/** True if a part can be merged into the chunk without a change in any mapper's output. */
export const continues = (merged: ResultChunk, { kind, call, logprobs }: OutputPart): boolean => {
  if (merged.characters >= MAX_CHUNK_CHARACTERS) return false;
  // The Responses API assigns log probabilities without text to the next text, never to an earlier one.
  if (kind === undefined) return merged.kind === undefined || !logprobs?.content;
  if (merged.kind === undefined) return !merged.logprobs?.content;
  if (kind !== merged.kind) return false;
  // An id or a name can begin another call under the same index.
  return kind !== 'call' || (!call?.id && !call?.name && call?.index === merged.call?.index);
};

/** Merges a part into `merged`. @returns the number of characters added */
export const addTo = (merged: ResultChunk, part: OutputPart): number => {
  const added = charactersOf(part);
  merged.characters += added;
  if (part.kind) merged.kind = part.kind;
  if (part.call) merged.call ??= part.call;
  if (part.text) merged.texts.push(part.text);
  for (const [name, list] of Object.entries(part.logprobs ?? {})) {
    merged.logprobs ??= {};
    merged.logprobs[name] ??= [];
    for (const entry of list) merged.logprobs[name].push(entry);
  }
  if (part.tokenIds) {
    merged.tokenIds ??= [];
    for (const id of part.tokenIds) merged.tokenIds.push(id);
  }
  if (part.promptTokenIds) merged.promptTokenIds = part.promptTokenIds;
  return added;
};

const deltaOf = ({ role, kind, call, texts }: ResultChunk): UpstreamDelta => {
  const delta: UpstreamDelta = role === undefined ? {} : { role };
  const text = texts.join('');
  if (kind === 'reasoning') delta.reasoning = text;
  if (kind === 'content') delta.content = text;
  if (call) {
    const { name, ...head } = call;
    delta.tool_calls = [{ ...head, function: { ...(name && { name }), arguments: text } }];
  }
  return delta;
};

/** Converts a chunk to a choice as a runtime would send it. */
export const toChoice = (merged: ResultChunk): UpstreamChoice => ({
  index: merged.index,
  delta: deltaOf(merged),
  ...(merged.logprobs && { logprobs: merged.logprobs }),
  ...(merged.tokenIds && { token_ids: merged.tokenIds }),
  ...(merged.promptTokenIds && { prompt_token_ids: [...merged.promptTokenIds] }),
  ...merged.end,
});
