import type { ReplyBody } from '../../client/routes.ts';

type Changes = ReplyBody<'GET /v1/tickets/{id}/history'>['data'][number]['changes'];

/** The name of a change, such as `message added`. */
export const nameOfAction = (action: string): string => action.replace(/^ticket\./, '').replaceAll('_', ' ');

// States and severities are words of the API; all else is what somebody wrote, or an id.
const WORDS: readonly string[] = ['status', 'severity', 'category'];

const textOf = (name: string, value: unknown): string => {
  if (value === null || value === undefined) return 'none';
  if (typeof value !== 'string') return JSON.stringify(value);
  return WORDS.includes(name) ? value.replaceAll('_', ' ') : value;
};

// The subject of a ticket is shown as its evidence, and never changes.
const isShown = ([name]: readonly [string, unknown]): boolean => name !== 'evidence';

/** The fields that a change gave another value, one text for each. */
export const changeTexts = (changes: Changes): string[] =>
  Object.entries(changes)
    .filter(isShown)
    .map(([name, { from, to }]) =>
      from === null ? `${name}: ${textOf(name, to)}` : `${name}: ${textOf(name, from)} → ${textOf(name, to)}`,
    );
