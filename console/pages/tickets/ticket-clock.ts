import type { TicketEntry } from './ticket-words.ts';

/** The promise that ends next. Only support has it, and only while it is support's turn. */
export interface TicketClock {
  kind: 'first_response' | 'resolution';
  /** Unix time in seconds. */
  dueAt: number;
  isOverdue: boolean;
  /** True within the last hour. */
  isNear: boolean;
}

const NEAR_S = 3_600;

/** The clock of a ticket that ends first; undefined if none runs. @param nowS Unix seconds */
export const clockOf = (ticket: TicketEntry, nowS: number): TicketClock | undefined => {
  const { status, first_response_at, first_response_due_at, resolution_due_at } = ticket;
  if (status !== 'open' && status !== 'waiting_on_support') return undefined;
  const running = [
    ...(first_response_at === null && first_response_due_at !== undefined
      ? [{ kind: 'first_response' as const, dueAt: first_response_due_at }]
      : []),
    ...(resolution_due_at ? [{ kind: 'resolution' as const, dueAt: resolution_due_at }] : []),
  ];
  const [next] = running.sort((a, b) => a.dueAt - b.dueAt);
  return next && { ...next, isOverdue: next.dueAt <= nowS, isNear: next.dueAt - nowS <= NEAR_S };
};

/** Tickets with the earliest clock first; those without a clock follow in their own order. */
export const byClock = <Entry extends TicketEntry>(tickets: readonly Entry[], nowS: number): Entry[] => {
  const dueAt = (ticket: Entry): number => clockOf(ticket, nowS)?.dueAt ?? Number.MAX_SAFE_INTEGER;
  return [...tickets].sort((a, b) => dueAt(a) - dueAt(b));
};
