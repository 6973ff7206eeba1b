import type { ChatPrompt, Prompt, TextPrompt } from '../../../shared/tokens/prompt.ts';

/** English text has about four bytes per token. Used for reservations, and if an upstream sent no count. */
export const BYTES_PER_TOKEN = 4;

// Per choice. The settlement corrects the reservation.
const MAX_RESERVED_OUTPUT_TOKENS = 4_096;

/** Estimates a text's length in tokens from its bytes. */
export const estimateTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/** The tokens that a request reserves from the tokens-per-minute limit. */
export const reservedTokens = (request: { promptBytes: number; maxTokens: number; choices: number }): number =>
  estimateTokens(request.promptBytes) + request.choices * Math.min(request.maxTokens, MAX_RESERVED_OUTPUT_TOKENS);

export const isChatPrompt = (prompt: Prompt): prompt is ChatPrompt => 'messages' in prompt;

// Its role, and its start and end.
const MESSAGE_OVERHEAD = 16;
const TEMPLATE_OVERHEAD = 1_024;
// Templates print tools with indentation, or as type declarations.
const TOOLS_FACTOR = 2;

const toolBytes = ({ tools }: ChatPrompt): number => (tools ? Buffer.byteLength(tools) : 0);

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

/** The bytes of a text, as its tokens are estimated: token ids count as text of their number. */
export const textBytes = (text: TextPrompt['texts'][number]): number =>
  typeof text === 'string' ? Buffer.byteLength(text) : text.length * BYTES_PER_TOKEN;

interface PromptSize {
  // The basis of the token estimate before the model is invoked.
  bytes: number;
  // An upper bound on the tokens of the rendered prompt, or of the longest text: a token has at least one byte. If this
  // bound fits, no tokenizer is needed.
  longestTokens: number;
  // An upper bound on the tokens of the whole prompt.
  allTokens: number;
}

/** An upper bound on the tokens of one of a prompt's texts. @param pairedBytes of the text that it is paired with */
export const maxTextTokens = (text: TextPrompt['texts'][number], pairedBytes: number): number =>
  pairedBytes + (typeof text === 'string' ? Buffer.byteLength(text) + MESSAGE_OVERHEAD : text.length);

/** Bounds a prompt's size without a tokenizer. */
export const measurePrompt = (prompt: Prompt): PromptSize => {
  if (isChatPrompt(prompt)) {
    const tools = toolBytes(prompt);
    const bytes = messageBytes(prompt) + tools;
    const tokens = bytes + (TOOLS_FACTOR - 1) * tools + TEMPLATE_OVERHEAD;
    return { bytes, longestTokens: tokens, allTokens: tokens };
  }
  const size = { bytes: 0, longestTokens: 0, allTokens: 0 };
  const pairedBytes = prompt.pairedWith === undefined ? 0 : Buffer.byteLength(prompt.pairedWith);
  for (const text of prompt.texts) {
    const bytes = pairedBytes + textBytes(text);
    const tokens = maxTextTokens(text, pairedBytes);
    size.bytes += bytes;
    size.allTokens += tokens;
    size.longestTokens = Math.max(size.longestTokens, tokens);
  }
  return size;
};

/** The maximum number of tokens that a runtime can count for a prompt: no text is longer than the context window. */
export const maxPromptTokens = (prompt: Prompt, { allTokens }: PromptSize, { context_length }: { context_length: number }): number =>
  Math.min(allTokens, context_length * (isChatPrompt(prompt) ? 1 : prompt.texts.length));
