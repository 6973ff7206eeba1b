import { idLike } from '../../../shared/ids/id.ts';
import { reasoningOf, textOf, type UpstreamChoice, type UpstreamChunk, type UpstreamToolCall } from '../../../shared/upstream/chunk.ts';
import { UpstreamFailed } from '../../../shared/upstream/errors.ts';
import { createCallReader } from '../chat/reply.ts';
import { type BlockDelta, type BlockInProgress, openText, openToolUse, type ReplyBlock } from './open-block.ts';
import { toolUseId } from './reply.ts';

/** An event of a block of a message. Blocks have the indexes 0, 1, 2, and never interleave. */
export type BlockEvent =
  | { type: 'content_block_start'; index: number; content_block: ReplyBlock }
  | { type: 'content_block_delta'; index: number; delta: BlockDelta }
  | { type: 'content_block_stop'; index: number };

// The text of blocks that wait for the end of the open one.
const MAX_HELD_CHARACTERS = 8_000_000;

interface QueuedBlock extends BlockInProgress {
  held: string;
}

/**
 * Converts a runtime's chunks to the events of content blocks. Reasoning or text continues the last block of its kind,
 * or begins a new one. While the arguments of a call are incomplete, blocks after it are held, because runtimes can
 * write several calls at a time.
 * @param replyId the message's id, from which the ids of calls are derived if the runtime sends none
 */
export const createBlockWriter = (replyId: string) => {
  const reader = createCallReader(`${idLike('toolUse', replyId)}_`);
  const calls = new Map<number, QueuedBlock>();
  const ids = new Set<string>();
  // Only the first one is open.
  const queue: QueuedBlock[] = [];
  let events: BlockEvent[] = [];
  let index = 0;
  let heldCharacters = 0;
  let ending: UpstreamChoice | undefined;

  const write = (block: QueuedBlock, text: string): void => {
    if (text) events.push({ type: 'content_block_delta', index, delta: block.toDelta(text) });
  };

  const begin = (block: QueuedBlock): void => {
    events.push({ type: 'content_block_start', index, content_block: block.start });
    write(block, block.held);
    heldCharacters -= block.held.length;
    block.held = '';
  };

  const endFirst = (): void => {
    const block = queue.shift();
    if (!block) return;
    if (block.last) events.push({ type: 'content_block_delta', index, delta: block.last });
    events.push({ type: 'content_block_stop', index });
    index += 1;
    if (queue[0]) begin(queue[0]);
  };

  const push = (opened: BlockInProgress): QueuedBlock => {
    const block = { ...opened, held: '' };
    queue.push(block);
    if (queue.length === 1) begin(block);
    return block;
  };

  const add = (block: QueuedBlock, text: string): void => {
    const own = block.take(text);
    if (block === queue[0]) write(block, own);
    else {
      block.held += own;
      heldCharacters += own.length;
      if (heldCharacters > MAX_HELD_CHARACTERS) throw new UpstreamFailed('upstream_error', 'Too much text after an incomplete tool call');
    }
    while (queue.length > 1 && queue[0]?.isComplete()) endFirst();
  };

  const addText = (type: keyof typeof openText, text: string): void => {
    const last = queue.at(-1);
    if (text) add(last?.start.type === type ? last : push(openText[type]()), text);
  };

  const addCalls = (deltas: readonly UpstreamToolCall[]): void => {
    for (const { index: position, opened, arguments: text } of reader.take(deltas)) {
      if (opened) calls.set(position, push(openToolUse(toolUseId(opened.id, ids), opened.name)));
      const block = calls.get(position);
      if (block) add(block, text);
    }
  };

  const takeChoice = (choice: UpstreamChoice): void => {
    const { delta, finish_reason } = choice;
    if (ending || (choice.index ?? 0) !== 0) return;
    if (delta) addText('thinking', reasoningOf(delta));
    addText('text', textOf(delta?.content));
    if (Array.isArray(delta?.tool_calls)) addCalls(delta.tool_calls);
    if (finish_reason) ending = choice;
  };

  const flush = (): BlockEvent[] => {
    const written = events;
    events = [];
    return written;
  };

  return {
    /** @throws UpstreamFailed if blocks with more than 8,000,000 characters must wait for the arguments of a call */
    take: (chunks: readonly UpstreamChunk[]): BlockEvent[] => {
      for (const { choices } of chunks) for (const choice of choices ?? []) takeChoice(choice);
      return flush();
    },
    /** The events that end all blocks. */
    end: (): BlockEvent[] => {
      while (queue.length > 0) endFirst();
      return flush();
    },
    /** The choice with the finish reason; undefined if there was none. */
    ending: (): UpstreamChoice | undefined => ending,
    hasCalls: (): boolean => calls.size > 0,
  };
};
