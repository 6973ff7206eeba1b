import type { ChatExtra, ChatField } from '../../../functions/inference/chat/request.ts';
import type { Body, Container } from './ask.ts';
import type { Facts } from './facts.ts';
import type { Reply } from './reply.ts';
import type { Verdict } from './verdict.ts';

/** How the effect of a field is measured: some requests, and what their replies prove. */
export interface Check {
  field: ChatField | ChatExtra;
  /** The value or use of the field that is checked, where a field has several checks. */
  variant?: string;
  /** The model to send the requests to; plain if absent. */
  kind?: keyof Container['models'];
  /** The fields of each request in addition to BASE or instead of its fields. */
  bodies: (facts: Facts) => readonly Body[];
  /** Receives a reply for each body, in order. */
  judge: (replies: readonly Reply[], facts: Facts) => Verdict;
}

export const QUESTION = 'Tell me about rivers, in a few sentences.';

/** The fields of every request: it leads to a short answer that is always the same. */
export const BASE: Body = {
  messages: [{ role: 'user', content: QUESTION }],
  max_tokens: 24,
  temperature: 0,
};

/**
 * The reply at a position. A missing reply is a mistake in the table of checks, since a judge gets one reply for each
 * body.
 */
export const reply = (replies: readonly Reply[], position: number): Reply => {
  const found = replies[position];
  if (!found) throw new Error(`the check has no request ${position}`);
  return found;
};
