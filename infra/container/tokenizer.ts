import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import { fromByteCharacters } from './byte-level.ts';

export const TOKENIZER_FILE = join(import.meta.dirname, 'tokenizer.json');
export const CHAT_TEMPLATE_FILE = join(import.meta.dirname, 'chat_template.jinja');

/** `arguments` is the value that the call's JSON text says, as vLLM gives it to a template. */
export interface ToolCall {
  function: { name: string; arguments: unknown };
}
export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content: string;
  reasoning?: string | null | undefined;
  tool_calls?: readonly ToolCall[] | null | undefined;
}

/** What a template renders beside the messages: tools as the caller wrote them, and the variables of `chat_template_kwargs`. */
interface PromptOptions {
  tools?: readonly object[] | undefined;
  variables?: Record<string, unknown> | undefined;
  /** Opens the assistant's turn at the end; true if absent. */
  addGenerationPrompt?: boolean | undefined;
}

/** One token id in, its bytes out. */
export type TokenSpelling = (id: number) => Uint8Array;

export interface ContainerTokenizer {
  /** Token ids run from 0 to this number, exclusive. */
  vocabularySize: number;
  specials: { startOfTurn: number; endOfTurn: number; endOfText: number };
  /** What the model itself writes in, token ids out; the spelling of a special token is ordinary text here. */
  encodeText(text: string): number[];
  /** What callers write in, token ids out; the spelling of a special token is that token, wherever it comes from, as in vLLM. */
  encodePrompt(text: string): number[];
  /**
   * A conversation in, the prompt's token ids out, from the first start-of-turn to the newline after `assistant`. Throws
   * what the template raises for a conversation that it does not accept.
   */
  encodeChat(messages: readonly ChatMessage[], options?: PromptOptions): number[];
  /** Token ids in, text out; bytes that are not UTF-8 become U+FFFD, special tokens nothing, unless they are to be spelled out. */
  decode(ids: readonly number[], spellSpecials?: boolean): string;
  /** One token id in, its entry in the vocabulary out, where each character stands for a byte; empty for an id that is none. */
  vocabularyEntry(id: number): string;
  /** One token id in, its bytes out; none for a special token, unless it is to be spelled out. */
  tokenBytes(id: number, spellSpecials?: boolean): Uint8Array;
}

interface TokenizerJson {
  added_tokens: { id: number; content: string }[];
  model: { vocab: Record<string, number> };
}

/** Reads the committed tokenizer and chat template, once a process. */
export const loadTokenizer = (): ContainerTokenizer =>
  createTokenizer(JSON.parse(readFileSync(TOKENIZER_FILE, 'utf8')), readFileSync(CHAT_TEMPLATE_FILE, 'utf8'));

/** The content of a byte-level `tokenizer.json` and a Jinja chat template in, the tokenizer of the model out. */
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
    encodeChat: (messages, { tools, variables, addGenerationPrompt = true } = {}) =>
      encodePrompt(template.render({ ...variables, messages, tools, add_generation_prompt: addGenerationPrompt })),
    decode: (ids, spellSpecials) =>
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(ids.map((id) => tokenBytes(id, spellSpecials)))),
    vocabularyEntry: (id) => entries[id] ?? '',
    tokenBytes,
  };
};

const idOf = (ids: ReadonlyMap<string, number>, content: string): number => {
  const id = ids.get(content);
  if (id === undefined) throw new Error(`tokenizer.json has no special token ${content}`);
  return id;
};
