import type { MessageEvent } from './message.ts';

// The deltas of each type of block.
const DELTAS: Record<string, readonly string[]> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
};

/**
 * The rules of a Messages stream that its events break: one message_start first, blocks that are numbered without gaps
 * and don't interleave, deltas of the block's type, and an end by message_delta and message_stop, or by an error.
 * @param events with the name of each event and its data
 */
export const streamFaults = (events: readonly { name?: string; data: unknown }[]): string[] => {
  const faults = new Set<string>();
  let blocks = 0;
  let open: { index: number; type: string } | undefined;
  for (const [position, { name, data }] of events.entries()) {
    const { type, index = -1, content_block, delta } = data as MessageEvent;
    if (name !== type) faults.add('an event has another name than its data');
    if ((type === 'message_start') !== (position === 0)) faults.add('message_start is not the first event, once');
    if (type === 'content_block_start') {
      if (open) faults.add('a block starts before the last one has stopped');
      if (index !== blocks) faults.add('the numbers of the blocks have gaps');
      blocks++;
      open = { index, type: content_block?.type ?? '' };
    }
    if (type === 'content_block_delta') {
      if (open?.index !== index) faults.add('a delta is of no open block');
      else if (!DELTAS[open.type]?.includes(delta?.type ?? '')) faults.add(`a ${delta?.type} is in a block of type ${open.type}`);
    }
    if (type === 'content_block_stop') {
      if (open?.index !== index) faults.add('a block stops that is not open');
      open = undefined;
    }
  }
  const types = events.map(({ data }) => (data as MessageEvent).type);
  const isEnded = types.at(-1) === 'error' || (types.at(-1) === 'message_stop' && types.at(-2) === 'message_delta');
  if (!isEnded) faults.add('the stream does not end with message_delta and message_stop, or with an error');
  if (open && types.at(-1) !== 'error') faults.add('a block never stops');
  return [...faults];
};
