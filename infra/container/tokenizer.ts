import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { Tokenizer } from '@huggingface/tokenizers';
import { fromByteCharacters } from './byte-level.ts';

export const TOKENIZER_FILE = join(import.meta.dirname, 'tokenizer.json');
export const CHAT_TEMPLATE_FILE = join(import.meta.dirname, 'chat_template.jinja');

/** `arguments` is the value that the call's JSON text says, as vLLM gives it to a template. */
export type ToolCall = { function: { name: string; arguments: unknown } };
export type ChatMessage = {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content: string;
  reasoning?: string | null | undefined;
  tool_calls?: readonly ToolCall[] | null | undefined;
};

/** What a template renders beside the messages: tools as the caller wrote them, and the variables of `chat_template_kwargs`. */
export type PromptOptions = { tools?: readonly object[] | undefined; variables?: Record<string, unknown> | undefined };

/** One token id in, its bytes out. */
export type TokenSpelling = (id: number) => Uint8Array;

export type ContainerTokenizer = {
  /** Token ids run from 0 to this number, exclusive. */
  vocabularySize: number;
  specials: { startOfTurn: number; endOfTurn: number; endOfText: number };
  /** Any text in, token ids out; the spelling of a special token is ordinary text here. */
  encodeText(text: string): number[];
  /**
   * A conversation in, the prompt's token ids out, from the first start-of-turn to the newline after `assistant`. Throws
   * what the template raises for a conversation that it does not accept.
   */
  encodeChat(messages: readonly ChatMessage[], options?: PromptOptions): number[];
  /** Token ids in, text out; bytes that are not UTF-8 become U+FFFD. */
  decode(ids: readonly number[]): string;
  /** One token id in, its bytes out; none for a special token, unless it is to be spelled out. */
  tokenBytes(id: number, spellSpecials?: boolean): Uint8Array;
};

type AddedToken = { id: number; content: string };
type TokenizerJson = { added_tokens: AddedToken[]; model: { vocab: Record<string, number> } };

// U+FDD0 is no character and never will be one, so it can mark text that came from a caller.
const GUARDED_OPENING = '<\uFDD0|';
const guard = (text: string): string => text.replaceAll('<|', GUARDED_OPENING);
const unguard = (text: string): string => text.replaceAll(GUARDED_OPENING, '<|');

/** Reads the committed tokenizer and chat template, once a process. */
export function loadTokenizer(): ContainerTokenizer {
  return createTokenizer(JSON.parse(readFileSync(TOKENIZER_FILE, 'utf8')), readFileSync(CHAT_TEMPLATE_FILE, 'utf8'));
}

/** The content of a byte-level `tokenizer.json` and a Jinja chat template in, the tokenizer of the model out. */
export function createTokenizer(json: TokenizerJson, chatTemplate: string): ContainerTokenizer {
  const text = new Tokenizer({ ...json, added_tokens: [] }, {});
  const template = new Template(chatTemplate);
  const specialIds = new Map(json.added_tokens.map(({ content, id }) => [content, id]));
  const bytes: Uint8Array[] = [];
  for (const [entry, id] of Object.entries(json.model.vocab)) bytes[id] = fromByteCharacters(entry);
  for (const { id } of json.added_tokens) bytes[id] = new Uint8Array();
  const spellings = new Map(json.added_tokens.map(({ content, id }) => [id, new TextEncoder().encode(content)]));

  const encodeText = (plain: string): number[] => (plain === '' ? [] : text.encode(plain).ids);
  const tokenBytes = (id: number, spellSpecials = false): Uint8Array =>
    (spellSpecials ? spellings.get(id) : undefined) ?? bytes[id] ?? new Uint8Array();

  const encodeChat = (messages: readonly ChatMessage[], { tools, variables }: PromptOptions = {}): number[] =>
    template
      .render({ ...guardAll(variables ?? {}), messages: messages.map(guardMessage), tools: guardAll(tools), add_generation_prompt: true })
      .split(/(<\|\w+\|>)/)
      .flatMap((part) => {
        const special = specialIds.get(part);
        return special === undefined ? encodeText(unguard(part)) : [special];
      });

  return {
    vocabularySize: bytes.length,
    specials: {
      startOfTurn: idOf(specialIds, '<|im_start|>'),
      endOfTurn: idOf(specialIds, '<|im_end|>'),
      endOfText: idOf(specialIds, '<|endoftext|>'),
    },
    encodeText,
    encodeChat,
    decode: (ids) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(ids.map((id) => tokenBytes(id)))),
    tokenBytes,
  };
}

const guardMessage = ({ role, ...message }: ChatMessage): ChatMessage => ({ role, ...guardAll(message) });

/** Guards every text in a JSON value, keys too. */
function guardAll<Value>(value: Value): Value;
function guardAll(value: unknown): unknown {
  if (typeof value === 'string') return guard(value);
  if (Array.isArray(value)) return value.map((item) => guardAll(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [guard(key), guardAll(item)]));
}

function idOf(ids: ReadonlyMap<string, number>, content: string): number {
  const id = ids.get(content);
  if (id === undefined) throw new Error(`tokenizer.json has no special token ${content}`);
  return id;
}
