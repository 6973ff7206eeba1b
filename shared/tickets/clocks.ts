import * as z from 'zod';
import { MINUTE_MS } from '../time/units.ts';
import { aroundTheClock, BusinessHours, type BusinessTime, createBusinessTime } from './business-time.ts';
import { Severity, type TicketClocks, type TicketStatus } from './ticket.ts';

// Half a year of work around the clock.
const Minutes = z.int().min(1).max(262_800);
const MinutesBySeverity = z.strictObject({ low: Minutes, normal: Minutes, high: Minutes, urgent: Minutes });

/** The times within which support promises to respond and to resolve. */
export const SupportPromise = z.strictObject({
  /** Absent: support works around the clock. */
  hours: BusinessHours.optional(),
  /** Severities whose clocks run around the clock in any case. */
  aroundTheClock: z.array(Severity).max(4).default(['urgent']),
  firstResponseMinutes: MinutesBySeverity.default({ low: 960, normal: 480, high: 240, urgent: 60 }),
  resolutionMinutes: MinutesBySeverity.default({ low: 4_800, normal: 2_400, high: 960, urgent: 480 }),
});
export type SupportPromise = z.infer<typeof SupportPromise>;

// While it is support's turn, the clock of the resolution runs.
const isSupportsTurn = (status: TicketStatus): boolean => status === 'open' || status === 'waiting_on_support';

interface Timed {
  status: TicketStatus;
  severity: Severity;
  created_at: number;
  clocks: TicketClocks;
}

/** Computes the clocks of tickets. All times are ms. */
export const createClocks = ({ hours, aroundTheClock: always, firstResponseMinutes, resolutionMinutes }: SupportPromise) => {
  const businessTime = hours ? createBusinessTime(hours) : aroundTheClock;
  const timeOf = (severity: Severity): BusinessTime => (always.includes(severity) ? aroundTheClock : businessTime);

  const firstDueAt = (severity: Severity, fromMs: number): number =>
    timeOf(severity).after(fromMs, firstResponseMinutes[severity] * MINUTE_MS);

  const running = (severity: Severity, usedMs: number, nowMs: number) => ({
    resolution_running_since: nowMs,
    resolution_used_ms: usedMs,
    resolution_due_at: timeOf(severity).after(nowMs, Math.max(0, resolutionMinutes[severity] * MINUTE_MS - usedMs)),
  });

  const usedBy = ({ severity, clocks }: Timed, nowMs: number): number =>
    clocks.resolution_used_ms +
    (clocks.resolution_running_since === null ? 0 : timeOf(severity).between(clocks.resolution_running_since, nowMs));

  // Keeps running, or begins to run again, or stands still.
  const resolution = (before: Timed, after: Pick<Timed, 'status' | 'severity'>, nowMs: number) => {
    const { resolution_running_since, resolution_used_ms, resolution_due_at } = before.clocks;
    const isSame = after.severity === before.severity && isSupportsTurn(after.status) === isSupportsTurn(before.status);
    if (isSame) return { resolution_running_since, resolution_used_ms, resolution_due_at };
    const usedMs = usedBy(before, nowMs);
    return isSupportsTurn(after.status)
      ? running(after.severity, usedMs, nowMs)
      : { resolution_running_since: null, resolution_used_ms: usedMs, resolution_due_at: null };
  };

  return {
    /** The clocks of a new ticket. */
    start: (severity: Severity, nowMs: number): TicketClocks => ({
      first_response_due_at: firstDueAt(severity, nowMs),
      first_response_at: null,
      ...running(severity, 0, nowMs),
    }),

    /** The clocks of a ticket that is reopened, by a message too: support has all its time again to resolve it. */
    restart: ({ severity, clocks }: Timed, nowMs: number): TicketClocks => ({ ...clocks, ...running(severity, 0, nowMs) }),

    /** Changes the clocks with a status or severity, or both. @param isAnswered true if support answers with it */
    change: (before: Timed, after: Pick<Timed, 'status' | 'severity'>, isAnswered: boolean, nowMs: number): TicketClocks => {
      const isFirst = before.clocks.first_response_at === null;
      return {
        first_response_at: isFirst && isAnswered ? nowMs : before.clocks.first_response_at,
        first_response_due_at:
          isFirst && after.severity !== before.severity
            ? firstDueAt(after.severity, before.created_at)
            : before.clocks.first_response_due_at,
        ...resolution(before, after, nowMs),
      };
    },
  };
};

export type Clocks = ReturnType<typeof createClocks>;
