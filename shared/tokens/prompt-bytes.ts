import { BYTES_PER_TOKEN } from './estimate.ts';
import { type ChatPrompt, isChatPrompt, type Prompt } from './prompt.ts';

/** What the chat template adds to a message, in tokens at most: its role, and what begins and ends it. */
const MESSAGE_OVERHEAD = 16;
/** What a chat template says of its own accord, in tokens at most. */
const TEMPLATE_OVERHEAD = 1_024;
/** Templates print tools with indentation, or as declarations of their own. */
const TOOLS_FACTOR = 2;

const toolBytes = ({ tools }: ChatPrompt): number => (tools ? Buffer.byteLength(JSON.stringify(tools)) : 0);

const chatBytes = (prompt: ChatPrompt): number =>
  prompt.messages.reduce(
    (bytes, { content, name, reasoning, tool_call_id, tool_calls }) =>
      bytes +
      Buffer.byteLength(content ?? '') +
      (name ? Buffer.byteLength(name) : 0) +
      (tool_call_id ? Buffer.byteLength(tool_call_id) : 0) +
      (reasoning ? Buffer.byteLength(reasoning) : 0) +
      (tool_calls ? Buffer.byteLength(JSON.stringify(tool_calls)) : 0) +
      MESSAGE_OVERHEAD,
    toolBytes(prompt),
  );

const textBytes = (text: string | number[]): number => (typeof text === 'string' ? Buffer.byteLength(text) : text.length * BYTES_PER_TOKEN);

/** A prompt's size in bytes, from which its tokens are estimated before anything is asked of the model. */
export const promptBytes = (prompt: Prompt): number =>
  isChatPrompt(prompt) ? chatBytes(prompt) : prompt.texts.reduce((bytes, text) => bytes + textBytes(text), 0);

/** More tokens than the rendered prompt, or the longest of several texts, has: a token is at least one byte of it. What is within this bound needs no tokenizer. */
export const promptTokenBound = (prompt: Prompt): number => {
  if (isChatPrompt(prompt)) return chatBytes(prompt) + (TOOLS_FACTOR - 1) * toolBytes(prompt) + TEMPLATE_OVERHEAD;
  return prompt.texts.reduce(
    (longest, text) => Math.max(longest, typeof text === 'string' ? Buffer.byteLength(text) + MESSAGE_OVERHEAD : text.length),
    0,
  );
};
