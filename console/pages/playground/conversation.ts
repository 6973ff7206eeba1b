import type { ApiFailure } from '../../client/api-failure.ts';
import type { ReplyBody } from '../../client/routes.ts';
import type { ChatBody, Message } from './settings.ts';
import type { ChatUsage } from './stream-chat.ts';
import type { Wake } from './wake.ts';

/** The two models beside one another; the names are those in the address. */
export const SIDES = ['model', 'with'] as const;
export type Side = (typeof SIDES)[number];

/** A request as it was sent, without its key. */
export interface SentRequest {
  /** Ends in `/v1`. */
  baseUrl: string;
  /** Besides the key and the type of the content. */
  headers?: Readonly<Record<string, string>>;
  body: ChatBody;
}

export type Detail = ReplyBody<'GET /v1/observability/requests/{id}'>;

/** A model's answer to a message, as far as it is known. */
export interface Answer {
  /** `waking`: it is sent again when the deployment is expected to be ready. */
  state: 'sending' | 'waking' | 'answering' | 'completed' | 'stopped' | 'failed';
  sent: SentRequest;
  /** The organization that pays, for users of the platform. */
  organization: string | undefined;
  /** True: the service began to answer, so that the request is recorded and can cost something. */
  isAdmitted: boolean;
  /** The state in which it was stopped. */
  stoppedIn?: Answer['state'];
  text: string;
  reasoning: string;
  finishReason: string | null;
  usage: ChatUsage | null;
  /** When the newest attempt started, in milliseconds of the page's own clock. */
  startedAtMs: number;
  firstAtMs: number | null;
  lastAtMs: number | null;
  apiKeyId: string | null;
  requestId: string | null;
  /** Fields that had no effect. */
  ignored: readonly string[];
  failure?: ApiFailure;
  wake?: Wake;
  /** As it was recorded, once it is found. */
  detail?: Detail;
}

/** A message with the answers of the models to it. */
export interface Turn {
  id: string;
  text: string;
  answers: Readonly<Partial<Record<Side, Answer>>>;
}

export const newAnswer = (sent: SentRequest, organization: string | undefined): Answer => ({
  state: 'sending',
  sent,
  organization,
  isAdmitted: false,
  text: '',
  reasoning: '',
  finishReason: null,
  usage: null,
  startedAtMs: 0,
  firstAtMs: null,
  lastAtMs: null,
  apiKeyId: null,
  requestId: null,
  ignored: [],
});

/** True while more of it can come. */
export const isRunning = ({ state }: Answer): boolean => state === 'sending' || state === 'waking' || state === 'answering';

// True for an answer that the next requests have in their history.
const isInHistory = ({ state, text }: Answer): boolean => (state === 'completed' || state === 'stopped') && text !== '';

const OTHER: Readonly<Record<Side, Side>> = { model: 'with', with: 'model' };

/**
 * The messages of a request: those of the turns that were answered, then a new one. Where a model gave no answer, its
 * history has that of the other model.
 */
export const messagesFor = (turns: readonly Turn[], side: Side, text: string): Message[] => [
  ...turns.flatMap(({ text: question, answers }): Message[] => {
    const answer = [answers[side], answers[OTHER[side]]].find((one) => one && isInHistory(one));
    return answer
      ? [
          { role: 'user', content: question },
          { role: 'assistant', content: answer.text },
        ]
      : [];
  }),
  { role: 'user', content: text },
];

interface Measures {
  /** From sending until the first text, as this browser saw it. */
  firstTokenMs: number | undefined;
  tokensPerSecond: number | undefined;
}

/** How fast an answer came. */
export const measuresOf = ({ startedAtMs, firstAtMs, lastAtMs, usage }: Answer): Measures => {
  const spanMs = firstAtMs === null || lastAtMs === null ? 0 : lastAtMs - firstAtMs;
  const afterFirst = (usage?.completion_tokens ?? 0) - 1;
  return {
    firstTokenMs: firstAtMs === null ? undefined : firstAtMs - startedAtMs,
    tokensPerSecond: spanMs > 0 && afterFirst > 0 ? (afterFirst * 1_000) / spanMs : undefined,
  };
};
