import type { ChatExtra, ChatField } from '../../../functions/inference/chat/request.ts';
import type { Body, Container } from './ask.ts';
import type { Facts } from './facts.ts';
import type { Reply } from './reply.ts';
import type { Verdict } from './verdict.ts';

/** How the effect of a field is found out: some requests, and what their replies prove. */
export interface Check {
  field: ChatField | ChatExtra;
  /** Which of the field's values or uses, where one check does not say it all. */
  variant?: string;
  /** Of which model it is asked; plain where it is not said. */
  kind?: keyof Container['models'];
  /** What each request has beside or in place of the properties of BASE. */
  bodies: (facts: Facts) => readonly Body[];
  /** Gets a reply for each body, in their order. */
  judge: (replies: readonly Reply[], facts: Facts) => Verdict;
}

export const QUESTION = 'Tell me about rivers, in a few sentences.';

/** What every request has: a short answer, always the same one. */
export const BASE: Body = {
  messages: [{ role: 'user', content: QUESTION }],
  max_tokens: 24,
  temperature: 0,
};

/** A judge gets as many replies as it has bodies; a reply too few would be a mistake in the table. */
export const reply = (replies: readonly Reply[], position: number): Reply => {
  const found = replies[position];
  if (!found) throw new Error(`the check has no request ${position}`);
  return found;
};
