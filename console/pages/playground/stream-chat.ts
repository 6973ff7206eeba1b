import { ApiFailure, failureIn, failureOf } from '../../client/api-failure.ts';
import { fetchReply } from '../../client/fetch-reply.ts';
import { createEventReader } from './event-reader.ts';

export interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number } | null;
}

interface ChatChunk {
  choices?: { delta?: { content?: string | null; reasoning?: string | null }; finish_reason?: string | null }[];
  usage?: ChatUsage | null;
  error?: unknown;
}

/** The part that one chunk adds to an answer. */
export interface ChatPart {
  text: string;
  reasoning: string;
  finishReason: string | null;
  usage: ChatUsage | null;
}

interface Listener {
  /** The service accepted the request. */
  onOpen: (reply: { requestId: string | null; ignored: readonly string[] }) => void;
  onPart: (part: ChatPart) => void;
}

const DONE = '[DONE]';
const BROKEN = 'stream_broken';

const broken = (message: string, requestId: string | null): ApiFailure => new ApiFailure({ status: 0, code: BROKEN, message, requestId });

const chunkOf = (data: string, requestId: string | null): ChatChunk => {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    throw broken('The stream had an event that is not JSON. Send it again.', requestId);
  }
  if (typeof chunk !== 'object' || chunk === null) throw broken('The stream had an event without content. Send it again.', requestId);
  if ('error' in chunk) throw failureIn(chunk, { status: 0, requestId });
  return chunk;
};

const partOf = ({ choices = [], usage = null }: ChatChunk): ChatPart => {
  const [choice] = choices;
  return {
    text: choice?.delta?.content ?? '',
    reasoning: choice?.delta?.reasoning ?? '',
    finishReason: choice?.finish_reason ?? null,
    usage,
  };
};

/**
 * Reads a stream of chat chunks to its `[DONE]`.
 * @throws ApiFailure for an error event, a connection that breaks off, or an end without `[DONE]`
 */
export const readChat = async (
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  requestId: string | null,
  onPart: Listener['onPart'],
): Promise<void> => {
  const events = createEventReader();
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw broken('The stream ended before the answer was complete. What has arrived is billed.', requestId);
      for (const data of events.read(value)) {
        if (data === DONE) return;
        onPart(partOf(chunkOf(data, requestId)));
      }
    }
  } catch (error) {
    if (error instanceof ApiFailure || (error as Error).name === 'AbortError') throw error;
    if (error instanceof RangeError) throw broken(error.message, requestId);
    throw broken('The connection broke off. The model goes on to the end of its answer, and all of it is billed.', requestId);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
};

/** Sends a streaming request. @throws ApiFailure, and the signal's reason if it was aborted */
export const streamChat = async (url: URL, init: RequestInit, { onOpen, onPart }: Listener): Promise<void> => {
  const response = await fetchReply(url, init);
  if (!response.ok || !response.body) throw await failureOf(response);
  const requestId = response.headers.get('x-request-id');
  const ignored = response.headers.get('x-sluice-ignored');
  onOpen({ requestId, ignored: ignored ? ignored.split(',').map((field) => field.trim()) : [] });
  await readChat(response.body, requestId, onPart);
};
