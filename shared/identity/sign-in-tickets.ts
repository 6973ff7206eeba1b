import { randomBytes } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { isWritten } from '../database/is-written.ts';
import { hashOf, rowId } from '../quotas/row-id.ts';
import { MINUTE_MS, SECOND_MS, unixSeconds } from '../time/units.ts';

const LIFETIME_MS = MINUTE_MS;
const TICKET_BYTES = 32;
// Longer answers are never looked up.
const MAX_TICKET_LENGTH = 100;

/**
 * Tickets with which a function of ours signs a user in without a password: see UserPool.signInWithTicket. The table
 * `attempts` stores only their hashes.
 */
export const createSignInTickets = (database: Database, table: string) => {
  const keyOf = (ticket: string) => ({ TableName: table, Key: { id: rowId('ticket', hashOf(ticket)) } });
  return {
    /** Returns a new ticket, with which one user can sign in once, within a minute. @param subject the user's `sub` */
    issue: async (subject: string, nowMs: number): Promise<string> => {
      const ticket = randomBytes(TICKET_BYTES).toString('base64url');
      await database.update({
        ...keyOf(ticket),
        UpdateExpression: 'SET subject = :subject, expires_at = :expires',
        ExpressionAttributeValues: { ':subject': subject, ':expires': unixSeconds(nowMs + LIFETIME_MS) },
      });
      return ticket;
    },

    /** Uses a ticket up. false: it was used, has expired, never existed or is another user's, who can still use it. */
    redeem: async (ticket: string, subject: string, nowMs: number): Promise<boolean> => {
      if (ticket.length > MAX_TICKET_LENGTH) return false;
      return isWritten(
        database.delete({
          ...keyOf(ticket),
          // The table deletes expired rows only hours or days later.
          ConditionExpression: 'subject = :subject AND expires_at > :now',
          ExpressionAttributeValues: { ':subject': subject, ':now': nowMs / SECOND_MS },
        }),
      );
    },
  };
};

export type SignInTickets = ReturnType<typeof createSignInTickets>;
