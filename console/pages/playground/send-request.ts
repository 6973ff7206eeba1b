import { ApiFailure } from '../../client/api-failure.ts';
import { type Answer, newAnswer, type SentRequest, type Side } from './conversation.ts';
import { beginAnswer, changeAnswer } from './conversation-store.ts';
import { forgetKey, type KeyPlace, playgroundKey } from './playground-key.ts';
import { streamChat } from './stream-chat.ts';
import { wakeOf } from './wake.ts';

/** An answer to get. */
export interface Sending {
  turnId: string;
  side: Side;
  request: SentRequest;
  place: KeyPlace;
}

const UNAUTHORIZED = 401;
const MAX_KEYS = 2;

// Resolves when the time is over and somebody looks at the page again. Rejects with the signal.
const waitUntilSeen = (seconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', abort);
    };
    const abort = () => {
      end();
      reject(signal.reason);
    };
    let isOver = false;
    const look = () => {
      if (!isOver || document.hidden) return;
      end();
      resolve();
    };
    const timer = setTimeout(() => {
      isOver = true;
      look();
    }, seconds * 1_000);
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', abort);
  });

type Change = (change: (answer: Answer) => Partial<Answer>) => void;

const attempt = async ({ request: { baseUrl, headers, body }, place }: Sending, signal: AbortSignal, change: Change): Promise<void> => {
  const key = await playgroundKey(place);
  signal.throwIfAborted();
  change(() => ({ state: 'sending', apiKeyId: key.id, requestId: null, startedAtMs: performance.now() }));
  await streamChat(
    new URL(`${baseUrl}/chat/completions`),
    {
      method: 'POST',
      credentials: 'omit',
      headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${key.secret}` },
      body: JSON.stringify(body),
      signal,
    },
    {
      onOpen: (reply) => change(() => ({ ...reply, state: 'answering', isAdmitted: true })),
      onPart: ({ text, reasoning, finishReason, usage }) => {
        const nowMs = performance.now();
        const hasText = text !== '' || reasoning !== '';
        change((answer) => ({
          text: answer.text + text,
          reasoning: answer.reasoning + reasoning,
          finishReason: finishReason ?? answer.finishReason,
          usage: usage ?? answer.usage,
          ...(hasText && { firstAtMs: answer.firstAtMs ?? nowMs, lastAtMs: nowMs }),
        }));
      },
    },
  );
};

const nowInSeconds = (): number => Date.now() / 1_000;

const sendUntilDone = async (sending: Sending, signal: AbortSignal, change: Change): Promise<void> => {
  const begunAt = nowInSeconds();
  let keys = 1;
  for (;;) {
    try {
      return await attempt(sending, signal, change);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof ApiFailure && error.status === UNAUTHORIZED && keys++ < MAX_KEYS) {
        // Somebody has revoked the key.
        forgetKey(sending.place);
        continue;
      }
      const wake = wakeOf(error, begunAt, nowInSeconds());
      if (!wake) throw error;
      change(() => ({ state: 'waking', wake, requestId: error instanceof ApiFailure ? error.requestId : null }));
      await waitUntilSeen(wake.sentAgainAt - nowInSeconds(), signal);
    }
  }
};

/** Sends a request, and again by itself while its deployment wakes. Everything that happens is in the answer. */
export const sendRequest = async (sending: Sending): Promise<void> => {
  const { turnId, side, request } = sending;
  const signal = beginAnswer(turnId, side, newAnswer(request, sending.place.organization));
  // An answer that was stopped can have a successor in its place.
  const change: Change = (of) => {
    if (!signal.aborted) changeAnswer(turnId, side, of);
  };
  try {
    await sendUntilDone(sending, signal, change);
    change(() => ({ state: 'completed' }));
  } catch (error) {
    change(() => ({
      state: 'failed',
      failure: error instanceof ApiFailure ? error : new ApiFailure({ status: 0, code: 'failed', message: String(error) }),
      ...(error instanceof ApiFailure && error.requestId !== null && { requestId: error.requestId }),
    }));
  }
};
