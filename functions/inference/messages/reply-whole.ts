import type { UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { ReplyFacts, WholeReply } from '../pipeline/inference-route.ts';
import { type BlockEvent, createBlockWriter } from './block-writer.ts';
import type { BlockDelta, ReplyBlock } from './open-block.ts';
import { stopOf, usageOf } from './reply.ts';
import { readToolInput } from './tool-input.ts';

const createContent = () => {
  const blocks: ReplyBlock[] = [];
  let argumentsText = '';

  const add = (block: ReplyBlock, delta: BlockDelta): void => {
    if (block.type === 'text' && delta.type === 'text_delta') block.text += delta.text;
    else if (block.type === 'thinking' && delta.type === 'thinking_delta') block.thinking += delta.thinking;
    else if (block.type === 'thinking' && delta.type === 'signature_delta') block.signature += delta.signature;
    else if (delta.type === 'input_json_delta') argumentsText += delta.partial_json;
  };

  const take = (event: BlockEvent): void => {
    if (event.type === 'content_block_start') {
      blocks.push({ ...event.content_block });
      argumentsText = '';
    }
    const block = blocks[event.index];
    if (!block) return;
    if (event.type === 'content_block_delta') add(block, event.delta);
    else if (event.type === 'content_block_stop' && block.type === 'tool_use') block.input = readToolInput(argumentsText);
  };

  return { take: (events: readonly BlockEvent[]): void => events.forEach(take), blocks };
};

/** Collects a runtime's chunks into one message of Anthropic's Messages API. */
export const createMessageReply = (facts: ReplyFacts): WholeReply => {
  const writer = createBlockWriter(facts.id);
  const content = createContent();
  return {
    take: (chunks: readonly UpstreamChunk[]): void => content.take(writer.take(chunks)),
    whole: (usage: UpstreamUsage): Record<string, unknown> => {
      content.take(writer.end());
      return {
        id: facts.id,
        type: 'message',
        role: 'assistant',
        model: facts.model,
        content: content.blocks,
        ...stopOf(writer.ending(), facts, writer.hasCalls()),
        usage: usageOf(usage),
      };
    },
  };
};
