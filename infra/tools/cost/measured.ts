import type { LogLine } from './log-filter.ts';

// Measured by tests and by `npm run bench`. DynamoDB units are in thousandths. A test compares docs/metering.md.

/** Write units of a request from its admission to its release, by who pays. */
export const REQUEST_WRITES = { plain: 3_000, prepaid: 5_000 } as const;

/** The part for the event, which is in the table `usage`; the others are in `keys`. */
export const EVENT_WRITES = 1_000;

/** The row by which a request is found (decision 0048). */
export const SEARCH_ROW_WRITES = 1_000;

/** The totals of one key, for each minute in which it was used: 14 rows are written, and rows and events are read. */
export const TOTALS = { writes: 14_000, reads: 18_500 } as const;

/**
 * Reads of the events of the last ten minutes, for each request beyond the first of its minute: 0.92 units for one
 * request a second, in all.
 */
export const FURTHER_EVENT_READS = 620;

/**
 * Bytes of what DynamoDB stores for a request: its event, and its row for the search with the overhead of both items.
 */
export const STORED = { event: 1_024, searchRow: 800, searchRowDays: 30 } as const;

/** A streamed chunk of one token, and what a reply has besides its tokens. */
export const REPLY_BYTES = { chunk: 215, token: 5, rest: 1_500 } as const;

/** Bytes of prompt text for each token. */
export const PROMPT_TOKEN_BYTES = 5;

/** The line that the function writes for a request, and the line of the API's access log. */
export const LOG_BYTES = { request: 800, access: 500 } as const;

/** The log line of a request, as far as it decides which metrics of log lines have a value. */
export const REQUEST_LINE = {
  message: 'request',
  prompt_tokens: 17,
  completion_tokens: 15,
  time_to_first_token_ms: 226,
  cost_nanos: 7_700,
  admission_round_trips: 1,
} as const;

interface ScheduledRun {
  /** Thousandths of read units, at the time of day at which it reads most. */
  reads: number;
  /** Thousandths of write units. */
  writes: number;
  /** The log lines, as far as they decide which metrics of log lines have a value. */
  lines: readonly LogLine[];
}

const zeros = (...names: string[]): Record<string, number> => Object.fromEntries(names.map((name) => [name, 0]));

/** The work of each scheduled function in a run that finds nothing to do. */
export const SCHEDULED_RUNS: Readonly<Record<string, ScheduledRun>> = {
  // Three epochs of eight partitions, of a quarter of an hour each; when one is over, a write says so.
  metering: { reads: 12_500, writes: 333, lines: [{ message: 'sweep', complete: true, behind_ms: 0 }] },
  deployments: {
    reads: 500,
    writes: 0,
    lines: [
      { message: 'reconciliations_sent', deployments: 0 },
      {
        message: 'deployments_counted',
        states: zeros(
          'pending',
          'creating',
          'in_service',
          'updating',
          'draining',
          'scaled_to_zero',
          'waking',
          'stopping',
          'stopped',
          'deleting',
          'failed',
        ),
      },
    ],
  },
  billing: { reads: 6_000, writes: 0, lines: [{ message: 'due_tasks_sent' }] },
  support: {
    reads: 6_000,
    writes: 0,
    lines: [
      {
        message: 'tickets_counted',
        statuses: zeros('open', 'waiting_on_support', 'waiting_on_customer', 'resolved'),
        ...zeros('first_response_overdue', 'resolution_overdue'),
      },
    ],
  },
};

/** @throws Error for a function that has got a schedule since, and must be measured */
export const scheduledRunOf = (name: string): ScheduledRun => {
  const run = SCHEDULED_RUNS[name];
  if (!run) throw new Error(`infra/tools/cost/measured.ts has no measurements for '${name}'. Measure one run and add it.`);
  return run;
};
