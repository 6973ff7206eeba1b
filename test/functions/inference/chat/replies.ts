import type { ReplyForm } from '../../../../functions/inference/chat/reply.ts';
import { createChatStream } from '../../../../functions/inference/chat/reply-stream.ts';
import { createChatCompletion } from '../../../../functions/inference/chat/reply-whole.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';

export const facts = {
  id: 'chatcmpl-1',
  created: 1_700_000_000,
  model: 'a "model"',
  requestId: 'req_1',
  organization: 'org_1',
  mayStore: true,
};
export const plain: ReplyForm = { includeUsage: false, tokenIds: false, isLegacy: false };
export const usage = { prompt_tokens: 5, completion_tokens: 2 };
export const replyUsage = {
  prompt_tokens: 5,
  completion_tokens: 2,
  total_tokens: 7,
};
export const chunkOf = (delta: object, more: object = {}): UpstreamChunk => ({ choices: [{ index: 0, delta, ...more }] });
export const ended = (finish_reason = 'stop', more: object = {}): UpstreamChunk => chunkOf({}, { finish_reason, ...more });

export interface Event {
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null; [key: string]: unknown }[];
  [key: string]: unknown;
}

export const stream = (chunks: UpstreamChunk[], form: Partial<ReplyForm> = {}, perf?: () => Record<string, unknown>): Event[] => {
  const reply = createChatStream({ ...facts, ...(perf && { perf }) }, { ...plain, ...form });
  return (reply.take(chunks) + reply.usage(usage))
    .split('\n\n')
    .filter(Boolean)
    .map((event) => JSON.parse(event.slice('data: '.length)) as Event);
};
export const deltas = (chunks: UpstreamChunk[], form: Partial<ReplyForm> = {}): unknown[] =>
  stream(chunks, form).map(({ choices }) => choices[0]?.delta);

interface Whole {
  choices: { message: Record<string, unknown>; [key: string]: unknown }[];
  [key: string]: unknown;
}
export const whole = (chunks: UpstreamChunk[], form: Partial<ReplyForm> = {}, perf?: () => Record<string, unknown>): Whole => {
  const reply = createChatCompletion({ ...facts, ...(perf && { perf }) }, { ...plain, ...form });
  reply.take(chunks);
  return reply.whole(usage) as Whole;
};

export const role = { role: 'assistant', content: '', refusal: null };
export const text = [
  chunkOf({ role: 'assistant', content: '' }),
  chunkOf({ content: 'Hel' }),
  chunkOf({ content: 'lo\n"' }),
  ended('length'),
];
