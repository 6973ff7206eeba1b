import { MAX_DEPTH, measureJson } from '../http/json/json-size.ts';
import { isOutput, type UpstreamChunk } from './chunk.ts';
import { chunkFault } from './chunk-fault.ts';
import { createChunkTemplate } from './chunk-template.ts';
import { ErrorInStream } from './error-in-stream.ts';
import { UpstreamFailed } from './errors.ts';
import { createStreamLines } from './stream-lines.ts';

// The runtime aborted the answer.
const FAILED_REASONS = new Set(['abort', 'error']);
// No stream of tokens has a line longer than this.
const MAX_LINE_CHARACTERS = 8 * 1024 * 1024;
const MAX_DETAIL_CHARACTERS = 500;
// JSON that is no longer than this can't be too deep to be written again.
const MAX_UNMEASURED_CHARACTERS = 4_096;

const EVENT_START = 'data: ';
const EVENT_END = '\n\n';

// It can also be several events: then the text between its start and its end is no JSON.
const mayBeOneEvent = (text: string): boolean => text.startsWith(EVENT_START) && text.endsWith(EVENT_END);

const failed = (what: string, text = ''): UpstreamFailed =>
  new UpstreamFailed('upstream_error', `${what}${text && `: ${text.slice(0, MAX_DETAIL_CHARACTERS)}`}`, what);

type StreamEvent = UpstreamChunk & { error?: unknown };

const parseEvent = (text: string): StreamEvent => {
  if (text.length > MAX_UNMEASURED_CHARACTERS && measureJson(text).depth > MAX_DEPTH)
    throw failed('The stream contains an event that is too deep.');
  let event: StreamEvent;
  try {
    event = JSON.parse(text) as StreamEvent;
  } catch {
    throw failed('The stream contains an event that is not JSON.');
  }
  if (typeof event !== 'object' || event === null) throw failed('The stream contains an event that is not an object', text);
  return event;
};

/**
 * Reads a runtime's stream: server-sent events or JSON lines, with `\n` or `\r\n`, in parts that can end anywhere,
 * even inside a character. An error event, or an `error:` field as llama.cpp sends it, is a failure: the chunks
 * before it are returned first, then it is thrown. Before the first word of the answer it is an ErrorInStream, which
 * can be a rejection of the request.
 * @param choices the number of choices that must finish for the stream to be complete
 */
export const createStreamReader = (choices = 1) => {
  const decoder = new TextDecoder();
  const finished = new Set<number>();
  const template = createChunkTemplate();
  let data: string | undefined;
  let isErrorEvent = false;
  let isDone = false;
  let isJsonLines = false;
  let hasUsage = false;
  let hasOutput = false;
  let failure: Error | undefined;

  const errorOf = (body: string): Error => (hasOutput ? failed('The stream contains an error', body) : new ErrorInStream(body));

  const parse = (text: string): UpstreamChunk | undefined => {
    if (text === '[DONE]') {
      isDone = true;
      return undefined;
    }
    const known = template.match(text);
    if (known) {
      hasOutput ||= isOutput(known);
      return known;
    }
    const chunk = parseEvent(text);
    if (chunk.error) throw errorOf(text);
    const fault = chunkFault(chunk);
    if (fault !== undefined) throw failed(`The stream contains an event with an unexpected value at ${fault || 'its top'}.`);
    if (chunk.usage) hasUsage = true;
    for (const choice of chunk.choices ?? []) {
      if (FAILED_REASONS.has(choice.finish_reason ?? '')) throw failed('The runtime aborted the answer', choice.finish_reason ?? '');
      if (choice.finish_reason) finished.add(choice.index ?? 0);
      choice.delta ??= choice.message ?? (typeof choice.text === 'string' ? { content: choice.text } : null);
    }
    template.learn(text, chunk);
    hasOutput ||= isOutput(chunk);
    return chunk;
  };

  const takeLine = (line: string, chunks: UpstreamChunk[]): void => {
    const take = (text: string): void => {
      if (isDone) return;
      if (isErrorEvent) throw errorOf(text);
      const chunk = parse(text);
      if (chunk) chunks.push(chunk);
    };
    if (line === '') {
      const text = data;
      data = undefined;
      if (text) take(text);
      isErrorEvent = false;
    } else if (line.startsWith('data:')) {
      const value = line.charCodeAt(5) === 0x20 ? line.slice(6) : line.slice(5);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (line.startsWith('{')) {
      isJsonLines = true;
      take(line);
    } else if (line.startsWith('event:')) isErrorEvent = line.slice(6).trim() === 'error';
    else if (line.startsWith('error:') && !isDone) throw errorOf(line.slice(6).trim());
  };

  const lines = createStreamLines(takeLine);

  /** Processes a part. Most parts are one event whose chunk is known, so that its lines need not be found. */
  const takePart = (text: string, chunks: UpstreamChunk[]): void => {
    const isBetweenEvents = lines.pendingCharacters() === 0 && data === undefined && !isErrorEvent && !isDone;
    const known =
      isBetweenEvents && mayBeOneEvent(text) ? template.match(text, EVENT_START.length, text.length - EVENT_END.length) : undefined;
    if (known) {
      hasOutput ||= isOutput(known);
      chunks.push(known);
      return;
    }
    lines.split(text, chunks);
    const pending = lines.pendingCharacters();
    if (pending > 0 && pending + (data?.length ?? 0) > MAX_LINE_CHARACTERS) throw failed('The stream contains a line that is too long.');
  };

  /** Returns the chunks before a failure; the next call throws the failure. */
  const reading = (read: (chunks: UpstreamChunk[]) => void): UpstreamChunk[] => {
    if (failure) throw failure;
    const chunks: UpstreamChunk[] = [];
    try {
      read(chunks);
    } catch (error) {
      failure = error as Error;
      if (chunks.length === 0) throw error;
    }
    return chunks;
  };

  const checkComplete = (): void => {
    const isComplete = finished.size >= choices && (isDone || isJsonLines || hasUsage);
    if (!isComplete) throw failed(`The stream ended before it was complete: ${finished.size} of ${choices} choices had finished.`);
  };

  return {
    /** The chunks that this part completes, in order. */
    push: (part: Uint8Array): UpstreamChunk[] => reading((chunks) => takePart(decoder.decode(part, { stream: true }), chunks)),

    /** Ends the stream and returns the chunks of a last unterminated line. */
    end: (): UpstreamChunk[] =>
      reading((chunks) => {
        const line = lines.end();
        if (line) takeLine(line, chunks);
        takeLine('', chunks);
        checkComplete();
      }),

    /** The failure, if there is one. */
    failure: (): Error | undefined => failure,

    /** The terminator has been read. */
    isDone: (): boolean => isDone,
  };
};
