import type { UpstreamChunk } from './chunk.ts';
import { UpstreamFailed } from './errors.ts';

/** What a runtime calls an answer that it broke off. */
const FAILED_REASONS = new Set(['abort', 'error']);
/** A line longer than this is no stream of tokens. */
const MAX_LINE_CHARACTERS = 8 * 1024 * 1024;

/**
 * Reads a runtime's stream: server-sent events or JSON lines, `\n` or `\r\n`, in parts that cut anywhere, also inside a
 * character. `push` takes a part and gives the chunks that it completed; an `error` event throws UpstreamFailed.
 */
export const createStreamReader = () => {
  const decoder = new TextDecoder();
  let rest = '';
  let data = '';
  let isDone = false;
  let sawFinish = false;
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
    if (chunk.error) throw new UpstreamFailed('upstream_error', `The stream holds an error: ${JSON.stringify(chunk.error).slice(0, 500)}`);
    for (const choice of chunk.choices ?? []) {
      if (FAILED_REASONS.has(choice.finish_reason ?? ''))
        throw new UpstreamFailed('upstream_error', `The runtime gave up: ${choice.finish_reason}`);
      if (choice.finish_reason) sawFinish = true;
      choice.delta ??= choice.message ?? null;
    }
    return chunk;
  };

  const takeLine = (line: string, chunks: UpstreamChunk[]): void => {
    const take = (text: string): void => {
      const chunk = isDone ? undefined : parse(text);
      if (chunk) chunks.push(chunk);
    };
    if (line === '') {
      if (data) take(data);
      data = '';
    } else if (line.startsWith('data:')) {
      const value = line.charCodeAt(5) === 0x20 ? line.slice(6) : line.slice(5);
      data = data ? `${data}\n${value}` : value;
    } else if (line.startsWith('{')) {
      isJsonLines = true;
      take(line);
    }
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
      if (rest.length + data.length > MAX_LINE_CHARACTERS)
        throw new UpstreamFailed('upstream_error', 'The stream holds a line without end.');
      return chunks;
    },

    /** The stream has ended: gives what a last unterminated line held. Throws when the stream did not say that it was complete. */
    end: (): UpstreamChunk[] => {
      const chunks: UpstreamChunk[] = [];
      if (rest) takeLine(rest.trimEnd(), chunks);
      takeLine('', chunks);
      if (!sawFinish || !(isDone || isJsonLines)) throw new UpstreamFailed('upstream_error', 'The stream ended before it was complete.');
      return chunks;
    },

    /** Whether the terminator has been read. */
    get isDone(): boolean {
      return isDone;
    },
  };
};
