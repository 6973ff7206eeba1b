import type { ApiError } from '../../../shared/http/errors.ts';
import { toMessagesError } from '../../../shared/http/messages-failure.ts';
import { tokenCount, type UpstreamChunk, type UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { ReplyFacts, StreamedReply } from '../pipeline/inference-route.ts';
import { createBlockWriter } from './block-writer.ts';
import { stopOf, usageOf } from './reply.ts';

const send = (event: { type: string; [field: string]: unknown }): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

// Keeps the connection open; clients skip it.
const PING = send({ type: 'ping' });

/**
 * Converts a runtime's chunks to the events of Anthropic's Messages API: the new message and a ping, the content blocks
 * one after another, the stop reason with the usage, and the end. There is no `[DONE]`. Every method returns whole
 * server-sent events.
 */
export const createMessageStream = (facts: ReplyFacts): StreamedReply => {
  const writer = createBlockWriter(facts.id);
  let hasBegun = false;

  // Older clients read the input tokens only here, so they are never 0. `message_delta` corrects all counts.
  const begin = (usage: UpstreamUsage = { prompt_tokens: facts.promptTokens ?? 1 }): string => {
    if (hasBegun) return '';
    hasBegun = true;
    const { id, model } = facts;
    const message = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null };
    return send({ type: 'message_start', message: { ...message, usage: usageOf({ ...usage, completion_tokens: 1 }) } }) + PING;
  };

  return {
    keepAlive: PING,
    take: (chunks: readonly UpstreamChunk[]): string => {
      const head = begin(chunks.find(({ usage }) => tokenCount(usage?.prompt_tokens))?.usage ?? undefined);
      return head + writer.take(chunks).map(send).join('');
    },
    usage: (usage: UpstreamUsage): string => {
      const blocks = begin(usage) + writer.end().map(send).join('');
      const delta = stopOf(writer.ending(), facts, writer.hasCalls());
      return blocks + send({ type: 'message_delta', delta, usage: usageOf(usage) });
    },
    end: (): string => send({ type: 'message_stop' }),
    fail: (error: ApiError, requestId: string): string => send({ type: 'error', ...toMessagesError(error, requestId) }),
  };
};
