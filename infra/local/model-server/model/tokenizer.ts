import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import { fromByteCharacters } from './byte-level.ts';

export const TOKENIZER_FILE = join(import.meta.dirname, 'tokenizer.json');
export const CHAT_TEMPLATE_FILE = join(import.meta.dirname, 'chat_template.jinja');

/** `arguments` is the parsed JSON, as in vLLM's templates. */
export interface ToolCall {
  function: { name: string; arguments: unknown };
}
export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content: string;
  reasoning?: string | null | undefined;
  tool_calls?: readonly ToolCall[] | null | undefined;
}

// `variables` are the `chat_template_kwargs`.
interface PromptOptions {
  tools?: readonly object[] | undefined;
  variables?: Record<string, unknown> | undefined;
  /** Ends the prompt with the start of the assistant's turn; default true. */
  addGenerationPrompt?: boolean | undefined;
  /** Ends the prompt within the last message; default false. */
  continuesFinalMessage?: boolean | undefined;
}

/** Returns the bytes of a token id. */
export type TokenSpelling = (id: number) => Uint8Array;

export interface ContainerTokenizer {
  /** Token ids are below this number. */
  vocabularySize: number;
  specials: { startOfTurn: number; endOfTurn: number; endOfText: number };
  /** Encodes text that the model writes. The spelling of a special token is ordinary text here. */
  encodeText(text: string): number[];
  /** Encodes text from a caller. The spelling of a special token becomes that token, as in vLLM. */
  encodePrompt(text: string): number[];
  /**
   * Renders a conversation with the chat template and encodes it. Throws the template's error if it rejects the
   * conversation.
   */
  encodeChat(messages: readonly ChatMessage[], options?: PromptOptions): number[];
  /** Decodes token ids. Invalid UTF-8 becomes U+FFFD. Omits special tokens unless `spellSpecials` is true. */
  decode(ids: readonly number[], spellSpecials?: boolean): string;
  /** Returns the vocabulary entry of a token id, with one character per byte; empty for an unknown id. */
  vocabularyEntry(id: number): string;
  /** Returns the bytes of a token id; none for a special token unless `spellSpecials` is true. */
  tokenBytes(id: number, spellSpecials?: boolean): Uint8Array;
}

interface TokenizerJson {
  added_tokens: { id: number; content: string }[];
  model: { vocab: Record<string, number> };
}

/** Loads the tokenizer and chat template of this folder. */
export const loadTokenizer = (): ContainerTokenizer =>
  createTokenizer(JSON.parse(readFileSync(TOKENIZER_FILE, 'utf8')), readFileSync(CHAT_TEMPLATE_FILE, 'utf8'));

// From the content of a byte-level `tokenizer.json` and a Jinja chat template.
const createTokenizer = (json: TokenizerJson, chatTemplate: string): ContainerTokenizer => {
  const plain = new Tokenizer({ ...json, added_tokens: [] }, {});
  const whole = new Tokenizer(json, {});
  const template = new Template(chatTemplate);
  const specialIds = new Map(json.added_tokens.map(({ content, id }) => [content, id]));
  const entries: string[] = [];
  for (const [entry, id] of [...Object.entries(json.model.vocab), ...specialIds]) entries[id] = entry;
  const bytes = entries.map((entry) => (specialIds.has(entry) ? new Uint8Array() : fromByteCharacters(entry)));
  const spellings = new Map(json.added_tokens.map(({ content, id }) => [id, new TextEncoder().encode(content)]));

  const tokenBytes = (id: number, spellSpecials = false): Uint8Array =>
    (spellSpecials ? spellings.get(id) : undefined) ?? bytes[id] ?? new Uint8Array();
  const encodeWith = (tokenizer: Tokenizer) => (text: string) =>
    text === '' ? [] : tokenizer.encode(text, { add_special_tokens: false }).ids;
  const encodePrompt = encodeWith(whole);

  return {
    vocabularySize: bytes.length,
    specials: {
      startOfTurn: idOf(specialIds, '<|im_start|>'),
      endOfTurn: idOf(specialIds, '<|im_end|>'),
      endOfText: idOf(specialIds, '<|endoftext|>'),
    },
    encodeText: encodeWith(plain),
    encodePrompt,
    encodeChat: (messages, { tools, variables, addGenerationPrompt = true, continuesFinalMessage = false } = {}) => {
      const marked = continuesFinalMessage ? withEndMark(messages) : messages;
      const prompt = template.render({ ...variables, messages: marked, tools, add_generation_prompt: addGenerationPrompt });
      return encodePrompt(continuesFinalMessage ? prompt.slice(0, prompt.lastIndexOf(END_MARK)) : prompt);
    },
    decode: (ids, spellSpecials) =>
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(ids.map((id) => tokenBytes(id, spellSpecials)))),
    vocabularyEntry: (id) => entries[id] ?? '',
    tokenBytes,
  };
};

// As in vLLM. The template doesn't strip the last message, so the mark is always in the prompt.
const END_MARK = 'CONTINUE_FINAL_MESSAGE_TAG ';
const withEndMark = (messages: readonly ChatMessage[]): ChatMessage[] =>
  messages.map((message, at) => (at === messages.length - 1 ? { ...message, content: message.content + END_MARK } : message));

const idOf = (ids: ReadonlyMap<string, number>, content: string): number => {
  const id = ids.get(content);
  if (id === undefined) throw new Error(`tokenizer.json has no special token ${content}`);
  return id;
};
