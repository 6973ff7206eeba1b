import { createHash } from 'node:crypto';
import * as z from 'zod';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { WrongCursor } from '../../../shared/http/page.ts';

const PREFIX = 'page_';
const HASH_CHARACTERS = 22;
const MAX_CHARACTERS = 400;

/** The facts that a cursor is bound to: the query without its page and limit, and the actor. */
export type CursorBinding = Readonly<Record<string, unknown>>;

const hashOf = (bound: CursorBinding): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(bound).sort(([a], [b]) => (a < b ? -1 : 1))))
    .digest('base64url')
    .slice(0, HASH_CHARACTERS);

/** Returns the opaque text of a position in the reply to a query. */
export const cursorOf = (bound: CursorBinding, position: unknown): string =>
  PREFIX + Buffer.from(JSON.stringify([hashOf(bound), position])).toString('base64url');

const parse = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor.slice(PREFIX.length), 'base64url').toString());
  } catch {
    return undefined;
  }
};

/** Parses the position of a cursor. @throws 400 for an invalid cursor, or one of another query */
export const positionOf = <Position extends z.ZodType>(
  cursor: string,
  { bound, position, param, next }: { bound: CursorBinding; position: Position; param: string; next: string },
): z.output<Position> => {
  const isOne = cursor.startsWith(PREFIX) && cursor.length <= MAX_CHARACTERS;
  const { data } = z.tuple([z.string(), position]).safeParse(isOne ? parse(cursor) : undefined);
  if (!data) throw new WrongCursor(param, next);
  const [hash, at] = data as [string, z.output<Position>];
  if (hash !== hashOf(bound))
    throw new InvalidValue(param, 'it belongs to another query. Send all other parameters as for the page that returned it');
  return at;
};
