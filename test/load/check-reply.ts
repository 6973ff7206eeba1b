import { idLike } from '../../shared/ids/id.ts';
import type { Exchange } from '../bench/lib/exchange.ts';
import { type Fault, faultIf } from './faults.ts';
import { hasEvent, type Question, type RouteName, type Tokens } from './question.ts';
import { type Content, readReply } from './read-reply.ts';

const idKinds = { chat: 'chatCompletion', completions: 'completion', responses: 'response' } as const;

/** A request that was sent, with what its caller learned. */
export interface Sent {
  nonce: string;
  keyId: string;
  route: RouteName;
  /**
   * - `served`: its caller got the whole reply
   * - `cut`: its caller disconnected after the first token
   * - `repeated`: its caller got the stored reply of an earlier request with the same idempotency key
   * - `refused`: its key's or organization's limits, or its twin in progress, explain the error
   * - `lost`: it is reported as a fault
   */
  ending: 'served' | 'cut' | 'repeated' | 'refused' | 'lost';
  /** The id of the request whose reply it is. */
  requestId: string | undefined;
  /** The request must have an event of its own. */
  isAdmitted: boolean;
  /** The tokens in its reply. */
  tokens: Tokens | undefined;
  /** The tokens that its reply must have, and at most costs if its caller disconnects. */
  expected: Tokens | undefined;
}

export interface Checked {
  sent: Sent;
  faults: Fault[];
}

interface Asking {
  question: Question;
  nonce: string;
  keyId: string;
  /** The error codes that the caller's limits explain. */
  refusals: readonly string[];
}

const headerOf = ({ headers }: Exchange, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

const contentFaults = ({ question, nonce }: Asking, content: Content, requestId: string | undefined, isCut: boolean): Fault[] => {
  const { route, expected } = question;
  const { text, tokens, ids } = content;
  if (!isCut && !content.isWhole) return [{ kind: 'lost', detail: `${route}: the reply has no proper end: ${text.slice(0, 200)}` }];
  const hasOwnText = isCut ? text.length > 0 && expected.text.startsWith(text) : text === expected.text;
  const ownIds = route === 'tokenize' || route === 'models' || requestId === undefined ? [] : [idLike(idKinds[route], requestId)];
  return [
    ...faultIf(!hasOwnText, 'crossed', `${route}: “${text.slice(0, 200)}” instead of “${expected.text.slice(0, 200)}”`),
    ...faultIf(ids.join() !== ownIds.join(), 'crossed', `${route}: the ids ${ids} in the reply to ${requestId}`),
    ...faultIf(route === 'responses' && content.nonce !== nonce, 'crossed', `${route}: the nonce ${content.nonce} instead of ${nonce}`),
    ...faultIf(
      !isCut && hasEvent(route) && (tokens?.prompt !== expected.tokens.prompt || tokens.completion !== expected.tokens.completion),
      'miscounted',
      `${route}: ${JSON.stringify(tokens)} instead of ${JSON.stringify(expected.tokens)}`,
    ),
  ];
};

// Only errors in the documented shape have one.
const errorCode = (body: string): string | undefined => {
  try {
    const { error } = JSON.parse(body);
    return typeof error?.message === 'string' && typeof error.type === 'string' ? error.code : undefined;
  } catch {
    return undefined;
  }
};

/** Compares a reply with what its request must give. */
export const checkReply = (asking: Asking, reply: Exchange): Checked => {
  const { question, nonce, keyId, refusals } = asking;
  const sent = {
    nonce,
    keyId,
    route: question.route,
    requestId: undefined,
    isAdmitted: false,
    tokens: undefined,
    expected: question.expected.tokens,
  };
  if (reply.status !== 200) {
    if (refusals.includes(errorCode(reply.text) ?? '')) return { sent: { ...sent, ending: 'refused' }, faults: [] };
    const requestId = headerOf(reply, 'x-request-id');
    return {
      sent: { ...sent, ending: 'lost', requestId },
      faults: [{ kind: 'lost', detail: `${question.route}: ${reply.status} ${reply.text}` }],
    };
  }
  try {
    const content = readReply(question, reply.text);
    const original = headerOf(reply, 'x-sluice-original-request-id');
    const requestId = original ?? headerOf(reply, 'x-request-id');
    const faults = contentFaults(asking, content, requestId, reply.isCut);
    const ending = original !== undefined ? 'repeated' : reply.isCut ? 'cut' : 'served';
    const isAdmitted = hasEvent(question.route) && original === undefined;
    return { sent: { ...sent, ending, requestId, isAdmitted, tokens: content.tokens }, faults };
  } catch (error) {
    return {
      sent: { ...sent, ending: 'lost' },
      faults: [{ kind: 'lost', detail: `${question.route}: ${error}: ${reply.text.slice(0, 200)}` }],
    };
  }
};
