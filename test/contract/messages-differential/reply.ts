import { readEvents } from '../../support/clients/server-sent-events.ts';
import type { Block, Message, MessageEvent } from './message.ts';
import { streamFaults } from './stream-faults.ts';

/** The parts by which two replies are compared. None depends on the time or on chance. */
export interface Reply {
  status: number;
  /** The type of an error, also of one in a stream. */
  error: string | undefined;
  /** The prefix of the id. */
  id: string | undefined;
  'stop reason': string | null | undefined;
  'stop sequence': string | null | undefined;
  /** The types of the blocks. */
  blocks: string[];
  text: string;
  thinking: string;
  /** The calls without their ids, which are of chance. */
  calls: { name: string; input: unknown }[];
  /** With those from the cache. */
  'prompt tokens': number | undefined;
  'output tokens': number | undefined;
  'usage keys': string[];
  /** The names of a stream's events, each repetition once, and at the end `ping` if it has any. */
  events: string[];
  /** The rules of the stream that it breaks. */
  faults: string[];
}

const countOf = (usage: Record<string, unknown>, key: string): number => (typeof usage[key] === 'number' ? usage[key] : 0);
const PING = 'ping';
const PROMPT_KEYS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];

const toReply = (status: number, message: Message, stream: Pick<Reply, 'events' | 'faults'>): Reply => {
  const { id, content = [], stop_reason, stop_sequence, usage = {}, error } = message;
  const all = (key: 'text' | 'thinking'): string => content.map((block) => block[key] ?? '').join('');
  const isCounted = Object.keys(usage).length > 0;
  return {
    status,
    error: error?.type,
    id: id?.match(/^[a-z]+/)?.[0],
    'stop reason': stop_reason,
    // vLLM leaves it out if there is none.
    'stop sequence': stop_sequence ?? null,
    blocks: content.map(({ type }) => type),
    text: all('text'),
    thinking: all('thinking'),
    calls: content.flatMap(({ type, name = '', input }) => (type === 'tool_use' ? [{ name, input }] : [])),
    'prompt tokens': isCounted ? PROMPT_KEYS.reduce((sum, key) => sum + countOf(usage, key), 0) : undefined,
    'output tokens': isCounted ? countOf(usage, 'output_tokens') : undefined,
    'usage keys': Object.keys(usage)
      .filter((key) => usage[key] != null)
      .sort(),
    ...stream,
  };
};

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json || '{}');
  } catch {
    return { broken: json };
  }
};

// The message that the events of a stream make, as a client puts it together.
const assemble = (events: readonly MessageEvent[]): Message => {
  const message: Message = { content: [] };
  const blocks = new Map<number, Block & { json: string }>();
  for (const { type, index = -1, message: first, content_block, delta, usage, error } of events) {
    if (type === 'message_start') Object.assign(message, first, { content: [] });
    if (type === 'content_block_start' && content_block) blocks.set(index, { ...content_block, json: '' });
    const block = blocks.get(index);
    if (type === 'content_block_delta' && block) {
      if (delta?.text !== undefined) block.text = (block.text ?? '') + delta.text;
      if (delta?.thinking !== undefined) block.thinking = (block.thinking ?? '') + delta.thinking;
      block.json += delta?.partial_json ?? '';
    }
    if (type === 'message_delta') Object.assign(message, delta, { usage: { ...message.usage, ...usage } });
    if (error) message.error = error;
  }
  const content = [...blocks.values()].map(({ json, ...block }) => (block.type === 'tool_use' ? { ...block, input: parsed(json) } : block));
  return { ...message, content };
};

/** Reads a reply with one message, or with an error. */
export const readWhole = (status: number, body: string): Reply => toReply(status, parsed(body) as Message, { events: [], faults: [] });

/** Reads a reply that is a stream of events. */
export const readStream = (status: number, body: string): Reply => {
  const events = readEvents(body).events.map(({ data }) => data as MessageEvent);
  const names = events.map(({ type = 'none' }) => type);
  // Pings depend on the time.
  const others = names.filter((name) => name !== PING);
  const once = others.filter((name, i) => name !== others[i - 1]);
  const faults = streamFaults(readEvents(body).events);
  return toReply(status, assemble(events), { events: [...once, ...(names.includes(PING) ? [PING] : [])], faults });
};
