import { createMessageStream } from '../../../../functions/inference/messages/reply-stream.ts';
import { createMessageReply } from '../../../../functions/inference/messages/reply-whole.ts';
import type { ReplyFacts } from '../../../../functions/inference/pipeline/inference-route.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../../../shared/upstream/chunk.ts';

export const facts: ReplyFacts = {
  id: 'msg_0123456789abcdefgh',
  created: 1_700_000_000,
  model: 'm',
  requestId: 'req_0123456789abcdefgh',
  organization: 'org_1',
  mayStore: true,
  promptTokens: 7,
};
export const usage: UpstreamUsage = { prompt_tokens: 5, completion_tokens: 2 };
export const chunkOf = (delta: object, more: object = {}): UpstreamChunk => ({ choices: [{ index: 0, delta, ...more }] });
export const ended = (finish_reason: string | null = 'stop', more: object = {}): UpstreamChunk => chunkOf({}, { finish_reason, ...more });
export const callOf = (index: number, text: string, opened?: { id?: string; name: string }): UpstreamChunk =>
  chunkOf({ tool_calls: [{ index, ...(opened?.id && { id: opened.id }), function: { name: opened?.name, arguments: text } }] });

export interface MessageEvent {
  type: string;
  index?: number;
  message?: Whole;
  [key: string]: unknown;
}

/** Reads events that have their name in `event` and in `type`, as strictly as Anthropic's clients. */
export const readEvents = (text: string): MessageEvent[] =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      const read = JSON.parse(data ?? '') as MessageEvent;
      if (read.type !== name) throw new Error(`The event ${name} has the type ${read.type}.`);
      return read;
    });

export interface MessageFacts {
  facts?: Partial<ReplyFacts>;
  usage?: UpstreamUsage;
}

/** The events of a stream; each batch is taken at once. */
export const stream = (batches: readonly UpstreamChunk[][], given: MessageFacts = {}): MessageEvent[] => {
  const reply = createMessageStream({ ...facts, ...given.facts });
  const events = batches.map((chunks) => reply.take(chunks)).join('');
  return readEvents(events + reply.usage(given.usage ?? usage) + reply.end());
};

/** The events of blocks in a stream. */
export const blockEvents = (chunks: readonly UpstreamChunk[]): MessageEvent[] =>
  stream(chunks.map((chunk) => [chunk])).filter(({ type }) => type.startsWith('content_block_'));

export interface Whole {
  content: Record<string, unknown>[];
  usage: Record<string, unknown>;
  [key: string]: unknown;
}

export const whole = (chunks: readonly UpstreamChunk[], given: MessageFacts = {}): Whole => {
  const reply = createMessageReply({ ...facts, ...given.facts });
  reply.take(chunks);
  return reply.whole(given.usage ?? usage) as Whole;
};

interface AssembledBlock {
  type: string;
  text: string;
}

const TEXT_OF = { thinking_delta: 'thinking', text_delta: 'text', input_json_delta: 'partial_json' } as const;

/** Assembles blocks by the rules of the stream alone. Throws if an event breaks them. */
export const assemble = (events: readonly MessageEvent[]): AssembledBlock[] => {
  const blocks: AssembledBlock[] = [];
  let open: AssembledBlock | undefined;
  for (const event of events) {
    if (!event.type.startsWith('content_block_')) continue;
    if (event.index !== blocks.length) throw new Error(`The block ${event.index} follows ${blocks.length} blocks.`);
    if (event.type === 'content_block_start') {
      if (open) throw new Error('A block begins in another one.');
      open = { type: (event.content_block as { type: string }).type, text: '' };
    } else if (!open) throw new Error('The block is not open.');
    else if (event.type === 'content_block_stop') {
      blocks.push(open);
      open = undefined;
    } else {
      const delta = event.delta as Record<string, string> & { type: string };
      if (delta.type in TEXT_OF) open.text += delta[TEXT_OF[delta.type as keyof typeof TEXT_OF]];
    }
  }
  if (open) throw new Error('The last block does not end.');
  return blocks;
};
