import { textOf, type UpstreamChoice, type UpstreamChunk, type UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import { stopReasonOf, usageOf } from '../chat/reply.ts';
import type { ReplyFacts } from '../pipeline/inference-route.ts';
import { DONE } from '../pipeline/server-sent-events.ts';

/** The form of a response that its request asks for. */
export interface CompletionForm {
  includeUsage: boolean;
  tokenIds: boolean;
}

// One list for each of the names in LISTS.
type Logprobs = Record<string, unknown[]>;

const FINISH_REASONS = new Set(['stop', 'length', 'content_filter']);
const finishReasonOf = (reason: string): string => (FINISH_REASONS.has(reason) ? reason : 'stop');

const LISTS = ['tokens', 'token_logprobs', 'top_logprobs', 'text_offset'];

const logprobsOf = ({ logprobs }: UpstreamChoice): Logprobs | null => {
  const given = logprobs as Logprobs | null | undefined;
  if (!given || !Array.isArray(given.tokens)) return null;
  return Object.fromEntries(LISTS.map((name) => [name, Array.isArray(given[name]) ? given[name] : []]));
};

/**
 * Converts a runtime's chunks to a stream of `text_completion` chunks: choices are interleaved as they arrive, with one
 * finish chunk each. The usage follows if the caller requested it, then `[DONE]`.
 */
export const createCompletionStream = (facts: ReplyFacts, form: CompletionForm) => {
  const head = `data: ${JSON.stringify({ id: facts.id, object: 'text_completion', created: facts.created, model: facts.model }).slice(0, -1)},"choices":`;
  const tail = form.includeUsage ? ',"usage":null}\n\n' : '}\n\n';
  const finished = new Set<number>();
  const held: string[] = [];
  const event = (choice: string, more = ''): string => `${head}[${choice}]${more}${tail}`;

  const takeChoice = (choice: UpstreamChoice): string => {
    const index = Number(choice.index ?? 0);
    if (finished.has(index)) return '';
    const text = textOf(choice.delta?.content);
    const logprobs = logprobsOf(choice);
    const ids = form.tokenIds && choice.token_ids?.length ? { token_ids: choice.token_ids } : {};
    const promptIds = form.tokenIds && choice.prompt_token_ids ? { prompt_token_ids: choice.prompt_token_ids } : {};
    const hasContent = text !== '' || logprobs !== null || Object.keys(ids).length > 0 || Object.keys(promptIds).length > 0;
    const contentEvent = hasContent ? event(JSON.stringify({ index, text, logprobs, finish_reason: null, ...ids, ...promptIds })) : '';
    if (!choice.finish_reason) return contentEvent;
    finished.add(index);
    const stopReason = stopReasonOf(choice);
    const finish_reason = finishReasonOf(choice.finish_reason);
    const end = JSON.stringify({ index, text: '', logprobs: null, finish_reason, ...(stopReason !== null && { stop_reason: stopReason }) });
    if (!facts.perf) return contentEvent + event(end);
    held.push(end);
    return contentEvent;
  };

  return {
    take: (chunks: readonly UpstreamChunk[]): string => {
      let events = '';
      for (const chunk of chunks) for (const choice of chunk.choices ?? []) events += takeChoice(choice);
      return events;
    },
    usage: (usage: UpstreamUsage): string => {
      const perf = `,"perf_metrics":${JSON.stringify(facts.perf?.())}`;
      const ends = held.map((end, position) => event(end, position === held.length - 1 ? perf : '')).join('');
      return ends + (form.includeUsage ? `${head}[],"usage":${JSON.stringify(usageOf(usage))}}\n\n` : '');
    },
    end: (): string => DONE,
  };
};

interface Gathered {
  text: string;
  logprobs: Logprobs | null;
  tokenIds: number[];
  promptTokenIds: number[] | null;
  finishReason: string | null;
  stopReason: string | null;
}

const gather = (gathered: Gathered, choice: UpstreamChoice): void => {
  if (gathered.finishReason !== null) return;
  gathered.text += textOf(choice.delta?.content);
  const logprobs = logprobsOf(choice);
  if (logprobs) {
    gathered.logprobs ??= Object.fromEntries(LISTS.map((name) => [name, []]));
    for (const name of LISTS) for (const entry of logprobs[name] ?? []) gathered.logprobs[name]?.push(entry);
  }
  for (const id of choice.token_ids ?? []) gathered.tokenIds.push(id);
  if (choice.prompt_token_ids) gathered.promptTokenIds = choice.prompt_token_ids;
  if (!choice.finish_reason) return;
  gathered.finishReason = finishReasonOf(choice.finish_reason);
  gathered.stopReason = stopReasonOf(choice);
};

/** Collects a runtime's chunks into one `text_completion` object; keys without a value are null. */
export const createCompletion = (facts: ReplyFacts, form: CompletionForm) => {
  const choices = new Map<number, Gathered>();
  const choiceOf = (index: number): Gathered => {
    const known = choices.get(index);
    if (known) return known;
    const made = { text: '', logprobs: null, tokenIds: [], promptTokenIds: null, finishReason: null, stopReason: null };
    choices.set(index, made);
    return made;
  };
  return {
    take: (chunks: readonly UpstreamChunk[]): void => {
      for (const chunk of chunks) for (const choice of chunk.choices ?? []) gather(choiceOf(Number(choice.index ?? 0)), choice);
    },
    whole: (usage: UpstreamUsage): Record<string, unknown> => ({
      id: facts.id,
      object: 'text_completion',
      created: facts.created,
      model: facts.model,
      choices: [...choices]
        .sort(([a], [b]) => a - b)
        .map(([index, choice]) => ({
          index,
          text: choice.text,
          logprobs: choice.logprobs,
          finish_reason: choice.finishReason,
          stop_reason: choice.stopReason,
          token_ids: form.tokenIds ? choice.tokenIds : null,
          prompt_token_ids: form.tokenIds ? choice.promptTokenIds : null,
        })),
      usage: usageOf(usage),
      perf_metrics: facts.perf?.() ?? null,
    }),
  };
};
