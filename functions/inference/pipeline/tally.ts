import { tokenCount, type UpstreamChunk, type UpstreamDelta, type UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import { estimateTokens } from './prompt-size.ts';

// Any other count must never be billed.
const countOf = (value: unknown, most: number): number | undefined => {
  const count = tokenCount(value);
  return count !== undefined && count <= most ? count : undefined;
};

const exceeds = (value: unknown, most: number): boolean => typeof value === 'number' && value > most;

// Text, reasoning, and the names and arguments of calls.
const writtenText = ({ content, reasoning, reasoning_content, tool_calls }: UpstreamDelta): string => {
  const texts = [reasoning || reasoning_content, content];
  for (const call of Array.isArray(tool_calls) ? tool_calls : []) texts.push(call.function?.name, call.function?.arguments);
  let written = '';
  for (const text of texts) if (typeof text === 'string') written += text;
  return written;
};

// As they are billed: there can't be more cached tokens than the prompt has, nor fewer than none. The same holds for
// the reasoning of an answer.
const possibleDetails = <Details extends UpstreamUsage['prompt_tokens_details']>(details: Details, name: string, most: number): Details => {
  const count = details?.[name];
  if (count == null || countOf(count, most) !== undefined) return details;
  return { ...details, [name]: exceeds(count, most) ? most : 0 };
};

const MAX_REASON_CHARACTERS = 40;
// A text longer than this is estimated rather than counted.
const MAX_KEPT_CHARACTERS = 1_000_000;

export interface TokenCount {
  promptTokens: number;
  /** The part of the prompt's tokens that the runtime read from its prompt cache. */
  cachedTokens: number;
  completionTokens: number;
  source: 'runtime' | 'estimated';
  /** The runtime counted more than the request can have used, so this is our own count. */
  isOvercounted: boolean;
}

interface TallyFacts {
  promptBytes: number;
  // The maximum that the request can use, as its admission assumed.
  most: { promptTokens: number; completionTokens: number };
  choices: number;
  // With the text, a tokenizer can count the output if the runtime doesn't.
  keepsText: boolean;
  // The number of characters of the prompt that a choice echoes first.
  echoedCharacters: (choice: number) => number;
  // vLLM generates and counts a token that it doesn't send.
  isEchoOnly?: boolean;
  // The answer has no text, so that a prompt that the runtime did not count is charged by our own count.
  hasNoOutput?: true | undefined;
  now: () => number;
}

/** Counts what an answer uses, chunk by chunk, for billing. */
export const createTally = ({ promptBytes, most, choices, keepsText, echoedCharacters, isEchoOnly, hasNoOutput, now }: TallyFacts) => {
  let usage: (UpstreamUsage & { prompt_tokens: number; completion_tokens: number }) | undefined;
  // Output followed the runtime's last count.
  let isStale = false;
  let isOvercounted = false;
  let promptTokens = estimateTokens(promptBytes);
  let completionTokens: number | undefined;
  let outputBytes = 0;
  let firstTokenAtMs: number | undefined;
  let finishReason: string | undefined;
  let unfinished = choices;
  const texts = new Map<number, string>();
  let keptCharacters = 0;
  const echoes = new Map<number, number>();

  const withoutEcho = (choice: number, output: string): string => {
    const echoed = echoes.get(choice) ?? echoedCharacters(choice);
    if (echoed === 0) return output;
    echoes.set(choice, Math.max(0, echoed - output.length));
    return output.slice(echoed);
  };

  const keep = (choice: number, written: string): void => {
    keptCharacters += written.length;
    if (keptCharacters > MAX_KEPT_CHARACTERS) texts.clear();
    else texts.set(choice, (texts.get(choice) ?? '') + written);
  };

  const takeUsage = (reported: UpstreamUsage): void => {
    const completed = isEchoOnly ? 0 : reported.completion_tokens;
    const prompt_tokens = countOf(reported.prompt_tokens, most.promptTokens);
    const completion_tokens = countOf(completed, most.completionTokens);
    isOvercounted = exceeds(reported.prompt_tokens, most.promptTokens) || exceeds(completed, most.completionTokens);
    if (isOvercounted) usage = undefined;
    if (prompt_tokens !== undefined) promptTokens = prompt_tokens;
    if (prompt_tokens === undefined || completion_tokens === undefined) return;
    const { prompt_tokens_details: ofPrompt, completion_tokens_details: ofCompletion } = reported;
    usage = {
      prompt_tokens,
      completion_tokens,
      ...(ofPrompt && { prompt_tokens_details: possibleDetails(ofPrompt, 'cached_tokens', prompt_tokens) }),
      ...(ofCompletion && { completion_tokens_details: possibleDetails(ofCompletion, 'reasoning_tokens', completion_tokens) }),
    };
    isStale = false;
  };
  const finalUsage = () => (isStale ? undefined : usage);

  return {
    take: (chunk: UpstreamChunk): void => {
      for (const { index, delta, finish_reason } of chunk.choices ?? []) {
        const written = delta ? withoutEcho(index ?? 0, writtenText(delta)) : '';
        if (written) {
          outputBytes += Buffer.byteLength(written);
          isStale = true;
          firstTokenAtMs ??= now();
          if (keepsText) keep(index ?? 0, written);
        }
        if (typeof finish_reason !== 'string') continue;
        finishReason = finish_reason.toWellFormed().slice(0, MAX_REASON_CHARACTERS);
        unfinished--;
      }
      // Until every choice has ended, vLLM's count in a chunk of one of several is of that one alone.
      const isOfOne = choices > 1 && unfinished > 0 && chunk.choices?.length === 1;
      if (chunk.usage && !isOfOne) takeUsage(chunk.usage);
    },
    /**
     * The runtime's count if it is possible; else our own, by tokenizer or from bytes; zero if nothing was delivered.
     */
    count: (): TokenCount => {
      const counted = finalUsage();
      if (counted) {
        const { prompt_tokens, completion_tokens, prompt_tokens_details } = counted;
        const cachedTokens = countOf(prompt_tokens_details?.cached_tokens, prompt_tokens) ?? 0;
        return { promptTokens: prompt_tokens, cachedTokens, completionTokens: completion_tokens, source: 'runtime', isOvercounted };
      }
      const own = { cachedTokens: 0, source: 'estimated', isOvercounted } as const;
      if (outputBytes === 0 && !hasNoOutput) return { promptTokens: 0, completionTokens: 0, ...own };
      return {
        promptTokens: Math.min(promptTokens, most.promptTokens),
        completionTokens: Math.min(completionTokens ?? estimateTokens(outputBytes), most.completionTokens),
        ...own,
      };
    },
    /** Replaces the estimates with a tokenizer's counts. */
    counted: (counts: { promptTokens?: number | undefined; completionTokens?: number | undefined }): void => {
      promptTokens = counts.promptTokens ?? promptTokens;
      completionTokens = counts.completionTokens ?? completionTokens;
    },
    /** The output of each choice; empty if the runtime has counted it, or it was too long to be kept. */
    uncounted: (): string[] => (finalUsage() || keptCharacters > MAX_KEPT_CHARACTERS ? [] : [...texts.values()]),
    usage: finalUsage,
    hasOutput: (): boolean => outputBytes > 0,
    firstTokenAtMs: (): number | undefined => firstTokenAtMs,
    finishReason: (): string | undefined => finishReason,
  };
};

export type Tally = ReturnType<typeof createTally>;
