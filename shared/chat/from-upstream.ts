import { DONE } from '../http/sse.ts';
import type { UpstreamChunk, UpstreamUsage } from '../upstream/chunk.ts';

/** What a reply is made with beside the runtime's chunks. */
export interface ReplyFacts {
  id: string;
  /** Seconds since the epoch. */
  created: number;
  /** The published name, whatever the runtime calls it. */
  model: string;
}

const FINISH_REASONS = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);
const finishReasonOf = (reason: string): string => (FINISH_REASONS.has(reason) ? reason : 'stop');

const usageOf = (usage: UpstreamUsage): Record<string, unknown> => {
  const prompt = usage.prompt_tokens ?? 0;
  const completion = usage.completion_tokens ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: usage.prompt_tokens_details ?? null,
  };
};

/**
 * A runtime's chunks as the stream of interface 2.4: a role chunk first, one finish, the usage only if asked for, and
 * `[DONE]`. Each method gives whole server-sent events. The constant head of every chunk is serialized once.
 */
export const createChatStream = (facts: ReplyFacts, includeUsage: boolean) => {
  const head = `data: ${JSON.stringify({ id: facts.id, object: 'chat.completion.chunk', created: facts.created, model: facts.model }).slice(0, -1)},"choices":`;
  const tail = includeUsage ? ',"usage":null}\n\n' : '}\n\n';
  let hasRole = false;
  let hasFinished = false;
  const event = (delta: string, finishReason: string): string =>
    `${head}[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finishReason}}]${tail}`;

  return {
    /** The events for some chunks; '' when they hold nothing for the caller. */
    take: (chunks: readonly UpstreamChunk[]): string => {
      let events = '';
      for (const chunk of chunks) {
        const choice = chunk.choices?.[0];
        if (!choice || hasFinished) continue;
        if (!hasRole) {
          hasRole = true;
          events += event('{"role":"assistant","content":""}', 'null');
        }
        if (choice.delta?.content) events += event(`{"content":${JSON.stringify(choice.delta.content)}}`, 'null');
        if (choice.finish_reason) {
          hasFinished = true;
          events += event('{}', JSON.stringify(finishReasonOf(choice.finish_reason)));
        }
      }
      return events;
    },
    /** The usage event, if it was asked for. */
    usage: (usage: UpstreamUsage): string => (includeUsage ? `${head}[],"usage":${JSON.stringify(usageOf(usage))}}\n\n` : ''),
    end: (): string => DONE,
  };
};

/** A runtime's chunks gathered into the one object of interface 2.3. */
export const createChatCompletion = (facts: ReplyFacts) => {
  let content = '';
  let finishReason: string | null = null;
  return {
    take: (chunks: readonly UpstreamChunk[]): void => {
      for (const chunk of chunks) {
        const choice = chunk.choices?.[0];
        if (choice?.delta?.content) content += choice.delta.content;
        if (choice?.finish_reason) finishReason ??= finishReasonOf(choice.finish_reason);
      }
    },
    whole: (usage: UpstreamUsage): Record<string, unknown> => ({
      id: facts.id,
      object: 'chat.completion',
      created: facts.created,
      model: facts.model,
      choices: [
        { index: 0, message: { role: 'assistant', content, refusal: null, annotations: [] }, logprobs: null, finish_reason: finishReason },
      ],
      usage: usageOf(usage),
    }),
  };
};
