import { hash } from 'node:crypto';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { sessionOf } from './order-targets.ts';

interface Affine {
  user?: string | null | undefined;
  prompt_cache_isolation_key?: string | null | undefined;
}

// A completion has no conversation, and clients append to its prompt.
const PROMPT_CHARACTERS = 256;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

// Clients move markers such as `cache_control` between parts, so only texts count. An object in place of a text can't
// always be converted to one.
const textOf = (content: unknown): string => {
  if (Array.isArray(content)) return content.map((part) => (isFields(part) ? textOf(part.text) : '')).join('');
  return isFields(content) ? '' : String(content ?? '');
};

// The messages up to the first one of the user.
const beginningOf = (messages: readonly unknown[]): unknown[] => {
  const first = messages.findIndex((message) => isFields(message) && message.role === 'user');
  return messages.slice(0, first + 1).map((message) => (isFields(message) ? [message.role, textOf(message.content)] : message));
};

const listOf = (messages: unknown): unknown => (Array.isArray(messages) ? beginningOf(messages) : messages);

// A response that is stored can be continued by its id, without the conversation's beginning.
const isContinuable = ({ input, previous_response_id: previous, store }: Fields): boolean =>
  input !== undefined && (previous != null || store !== false);

const conversationIn = (body: unknown): string | undefined => {
  if (!isFields(body) || isContinuable(body)) return undefined;
  const { system, instructions, messages, input, prompt } = body;
  const start = JSON.stringify(prompt ?? '').slice(0, PROMPT_CHARACTERS);
  return hash('sha256', JSON.stringify([textOf(system), textOf(instructions), listOf(messages), listOf(input), start]), 'base64url');
};

/**
 * A text that stays the same for a caller or a conversation, within an organization: from the end user, else the
 * caller's cache key, else the coding agent's session, else the beginning of the conversation.
 * @param body as it was sent
 * @returns undefined for a conversation that is continued by an id and has none of the others
 */
export const splitAffinity = (
  organization: string,
  { user, prompt_cache_isolation_key: cacheKey }: Affine,
  body: unknown,
  event: ApiEvent,
  userId: string | undefined,
): string | undefined => {
  const named: [kind: string, value: string | null | undefined][] = [
    ['user', userId ?? user],
    ['key', cacheKey],
    ['session', sessionOf(event)],
  ];
  const [kind, value] = named.find(([, each]) => each) ?? ['conversation', conversationIn(body)];
  return value ? JSON.stringify([organization, kind, value]) : undefined;
};
