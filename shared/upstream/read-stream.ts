import type { UpstreamChunk } from './chunk.ts';
import { UpstreamFailed } from './errors.ts';

/** What a runtime calls an answer that it broke off. */
const FAILED_REASONS = new Set(['abort', 'error']);
/** A line longer than this is no stream of tokens. */
const MAX_LINE_CHARACTERS = 8 * 1024 * 1024;
const MAX_DETAIL_CHARACTERS = 500;

const failure = (what: string, text: string): UpstreamFailed =>
  new UpstreamFailed('upstream_error', `${what}: ${text.slice(0, MAX_DETAIL_CHARACTERS)}`);

/**
 * Reads a runtime's stream: server-sent events or JSON lines, `\n` or `\r\n`, in parts that cut anywhere, also inside a
 * character. `push` takes a part and gives the chunks that it completed; an error, as an event or as a field of its own as llama.cpp
 * sends it, throws UpstreamFailed.
 * @param choices how many answers must come to their end for the stream to be complete
 */
export const createStreamReader = (choices = 1) => {
  const decoder = new TextDecoder();
  const finished = new Set<number>();
  let rest = '';
  let data: string | undefined;
  let isError = false;
  let isDone = false;
  let isJsonLines = false;

  const parse = (text: string): UpstreamChunk | undefined => {
    if (text === '[DONE]') {
      isDone = true;
      return undefined;
    }
    let chunk: UpstreamChunk & { error?: unknown };
    try {
      chunk = JSON.parse(text) as UpstreamChunk & { error?: unknown };
    } catch {
      throw new UpstreamFailed('upstream_error', 'The stream holds an event that is not JSON.');
    }
    if (typeof chunk !== 'object' || chunk === null) throw failure('The stream holds an event that is no object', text);
    if (chunk.error) throw failure('The stream holds an error', JSON.stringify(chunk.error));
    for (const choice of chunk.choices ?? []) {
      if (FAILED_REASONS.has(choice.finish_reason ?? '')) throw failure('The runtime gave up', choice.finish_reason ?? '');
      if (choice.finish_reason) finished.add(choice.index ?? 0);
      choice.delta ??= choice.message ?? null;
    }
    return chunk;
  };

  const takeLine = (line: string, chunks: UpstreamChunk[]): void => {
    const take = (text: string): void => {
      if (isError) throw failure('The stream holds an error', text);
      const chunk = isDone ? undefined : parse(text);
      if (chunk) chunks.push(chunk);
    };
    if (line === '') {
      if (data) take(data);
      data = undefined;
      isError = false;
    } else if (line.startsWith('data:')) {
      const value = line.charCodeAt(5) === 0x20 ? line.slice(6) : line.slice(5);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (line.startsWith('{')) {
      isJsonLines = true;
      take(line);
    } else if (line.startsWith('event:')) isError = line.slice(6).trim() === 'error';
    else if (line.startsWith('error:') && !isDone) throw failure('The stream holds an error', line.slice(6).trim());
  };

  return {
    /** The chunks that this part completes, in order. */
    push: (part: Uint8Array): UpstreamChunk[] => {
      const chunks: UpstreamChunk[] = [];
      const text = rest + decoder.decode(part, { stream: true });
      let start = 0;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        takeLine(text.slice(start, text.charCodeAt(end - 1) === 0x0d ? end - 1 : end), chunks);
        start = end + 1;
      }
      rest = text.slice(start);
      if (rest.length + (data?.length ?? 0) > MAX_LINE_CHARACTERS)
        throw new UpstreamFailed('upstream_error', 'The stream holds a line without end.');
      return chunks;
    },

    /** The stream has ended: gives what a last unterminated line held. Throws when the stream did not say that it was complete. */
    end: (): UpstreamChunk[] => {
      const chunks: UpstreamChunk[] = [];
      if (rest) takeLine(rest.trimEnd(), chunks);
      takeLine('', chunks);
      if (finished.size < choices || !(isDone || isJsonLines))
        throw new UpstreamFailed('upstream_error', 'The stream ended before it was complete.');
      return chunks;
    },

    /** Whether the terminator has been read. */
    get isDone(): boolean {
      return isDone;
    },
  };
};
