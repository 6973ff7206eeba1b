import { createToolInput } from './tool-input.ts';

/** A content block of a reply. */
export type ReplyBlock =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> };

export type BlockDelta =
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'text_delta'; text: string }
  | { type: 'input_json_delta'; partial_json: string };

/** A content block that is being written. */
export interface BlockInProgress {
  /** The block without its content. */
  start: ReplyBlock;
  /** Returns the part of the text that belongs to the block. */
  take: (text: string) => string;
  toDelta: (text: string) => BlockDelta;
  /** True if another block can begin. */
  isComplete: () => boolean;
  /** The delta before the block ends. */
  last?: BlockDelta;
}

// Clients send it back, and some drop a thinking block without one. Nothing reads it.
const SIGNATURE = 'sluice';

const ofText = { take: (text: string): string => text, isComplete: (): boolean => true };

/** Opens a block of text, by its type. */
export const openText = {
  text: (): BlockInProgress => ({
    ...ofText,
    start: { type: 'text', text: '' },
    toDelta: (text) => ({ type: 'text_delta', text }),
  }),
  thinking: (): BlockInProgress => ({
    ...ofText,
    start: { type: 'thinking', thinking: '', signature: '' },
    toDelta: (thinking) => ({ type: 'thinking_delta', thinking }),
    last: { type: 'signature_delta', signature: SIGNATURE },
  }),
};

/** Opens a tool call; it is complete with the end of its arguments. */
export const openToolUse = (id: string, name: string): BlockInProgress => ({
  ...createToolInput(),
  start: { type: 'tool_use', id, name, input: {} },
  toDelta: (partial_json) => ({ type: 'input_json_delta', partial_json }),
});
