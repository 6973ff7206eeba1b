import type { ReplyBody } from '../../client/routes.ts';
import { formatCount, sumOf } from '../../design/format/amounts.ts';
import { csvOf } from '../../design/format/csv.ts';
import { formatDay } from '../../design/format/times.ts';
import { DAY_S, HOUR_S } from '../../design/format/units.ts';

export type EconomicsRow = ReplyBody<'GET /v1/economics'>['data'][number];

const HOUR_DECIMALS = 1;

/** Seconds as hours with one decimal. */
export const hours = (seconds: string): string => formatCount((Number(seconds) / HOUR_S).toFixed(HOUR_DECIMALS));

/** The first and the last day of a row; the API's `to` is the day after the last. */
export const daysOf = ({ from, to }: Pick<EconomicsRow, 'from' | 'to'>): string => `${from} – ${formatDay(Date.parse(to) / 1_000 - DAY_S)}`;

export const tokensOf = ({ prompt_tokens, completion_tokens }: EconomicsRow): bigint =>
  BigInt(String(prompt_tokens)) + BigInt(String(completion_tokens));

/** The exact sum of an amount of all rows; null if a row lacks it. */
export const totalOf = (rows: readonly EconomicsRow[], amountOf: (row: EconomicsRow) => string | null): string | null => {
  const amounts = rows.map(amountOf);
  return amounts.includes(null) ? null : sumOf(amounts as string[]);
};

/** True if a row's deployment was awake and nobody used it. */
export const isUnused = ({ awake_days, requests }: EconomicsRow): boolean => awake_days > 0 && requests === 0;

/** A line for each row, with exact numbers. */
export const economicsCsv = (rows: readonly EconomicsRow[]): string =>
  csvOf([
    [
      'from',
      'to',
      'organization',
      'deployment',
      'model',
      'requests',
      'tokens',
      'busy',
      'idle',
      'waking',
      'draining',
      'cost',
      'revenue',
      'margin',
      'list_cost',
    ],
    ...rows.map((row) =>
      [
        row.from,
        row.to,
        row.organization,
        row.deployment,
        row.model,
        row.requests,
        tokensOf(row),
        row.instance_seconds.busy,
        row.instance_seconds.idle,
        row.instance_seconds.waking,
        row.instance_seconds.draining,
        row.cost,
        row.revenue?.total,
        row.margin,
        row.list_cost,
      ].map((value) => String(value ?? '')),
    ),
  ]);
