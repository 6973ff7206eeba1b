import type { ChatPrompt, Prompt } from '../../../shared/tokens/prompt.ts';
import { BYTES_PER_TOKEN } from './token-estimate.ts';

export const isChatPrompt = (prompt: Prompt): prompt is ChatPrompt => 'messages' in prompt;

/** What the chat template adds to a message, in tokens at most: its role, and what begins and ends it. */
const MESSAGE_OVERHEAD = 16;
/** What a chat template says of its own accord, in tokens at most. */
const TEMPLATE_OVERHEAD = 1_024;
/** Templates print tools with indentation, or as declarations of their own. */
const TOOLS_FACTOR = 2;

const toolBytes = ({ tools }: ChatPrompt): number => (tools ? Buffer.byteLength(JSON.stringify(tools)) : 0);

const messageBytes = ({ messages }: ChatPrompt): number =>
  messages.reduce(
    (bytes, { content, name, reasoning, tool_call_id, tool_calls }) =>
      bytes +
      Buffer.byteLength(content ?? '') +
      (name ? Buffer.byteLength(name) : 0) +
      (tool_call_id ? Buffer.byteLength(tool_call_id) : 0) +
      (reasoning ? Buffer.byteLength(reasoning) : 0) +
      (tool_calls ? Buffer.byteLength(JSON.stringify(tool_calls)) : 0) +
      MESSAGE_OVERHEAD,
    0,
  );

/** What is known of a prompt's size without a tokenizer. */
export interface PromptSize {
  /** From which its tokens are estimated before anything is asked of the model. */
  bytes: number;
  /**
   * More tokens than the rendered prompt, or the longest of several texts, has: a token is at least one byte of it. What is within this
   * bound needs no tokenizer.
   */
  longestTokens: number;
  /** More tokens than all of it has. */
  allTokens: number;
}

/** Measures a prompt, once for everything that is decided by its size. */
export const measurePrompt = (prompt: Prompt): PromptSize => {
  if (isChatPrompt(prompt)) {
    const tools = toolBytes(prompt);
    const bytes = messageBytes(prompt) + tools;
    const tokens = bytes + (TOOLS_FACTOR - 1) * tools + TEMPLATE_OVERHEAD;
    return { bytes, longestTokens: tokens, allTokens: tokens };
  }
  const size = { bytes: 0, longestTokens: 0, allTokens: 0 };
  for (const text of prompt.texts) {
    const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.length * BYTES_PER_TOKEN;
    const tokens = typeof text === 'string' ? bytes + MESSAGE_OVERHEAD : text.length;
    size.bytes += bytes;
    size.allTokens += tokens;
    size.longestTokens = Math.max(size.longestTokens, tokens);
  }
  return size;
};

/** The most tokens that a runtime can count for a prompt: no text is longer than the model's window. */
export const maxPromptTokens = (prompt: Prompt, { allTokens }: PromptSize, { context_length }: { context_length: number }): number =>
  Math.min(allTokens, context_length * (isChatPrompt(prompt) ? 1 : prompt.texts.length));
