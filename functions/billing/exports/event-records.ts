import { type Cell, csvLines } from '../../../shared/csv/csv.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';

const recordOf = (event: UsageEvent) => ({
  object: 'usage_event',
  id: event.request_id,
  organization: event.org_id,
  api_key_id: event.key_id,
  admitted_at: Math.floor(event.admitted_at / SECOND_MS),
  model: event.model ?? null,
  route: event.route ?? null,
  endpoint: event.endpoint ?? null,
  stream: event.stream ?? null,
  outcome: event.outcome,
  error_code: event.error_code ?? null,
  finish_reason: event.finish_reason,
  time_to_first_token_ms: event.time_to_first_token_ms,
  duration_ms: event.duration_ms,
  prompt_tokens: event.prompt_tokens,
  cached_tokens: event.cached_tokens,
  completion_tokens: event.completion_tokens,
  source: event.source,
  is_overcounted: event.is_overcounted ?? false,
  cost: dollarsOf(event.cost_nanos),
  price_version: event.price_version,
  rerate: event.rerate?.id ?? null,
  rated_from: event.rerate?.from ?? null,
  is_capped: event.is_capped ?? false,
  is_prepaid: event.is_prepaid ?? false,
  user: event.user ?? null,
  user_id: event.user_id ?? null,
  metadata: event.metadata ?? null,
});

const COLUMNS = [
  'id',
  'organization',
  'api_key_id',
  'admitted_at',
  'model',
  'route',
  'endpoint',
  'stream',
  'outcome',
  'error_code',
  'finish_reason',
  'time_to_first_token_ms',
  'duration_ms',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'source',
  'is_overcounted',
  'cost',
  'price_version',
  'rerate',
  'rated_from',
  'is_capped',
  'is_prepaid',
  'user',
  'user_id',
  'metadata',
] as const satisfies (keyof ReturnType<typeof recordOf>)[];

const cellOf = (value: unknown): Cell => {
  if (value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** The first line of a file of events; JSON Lines have none. */
export const eventHeader = (format: 'csv' | 'jsonl'): string => (format === 'csv' ? csvLines([COLUMNS]) : '');

/** An event as a line of the file. */
export const eventLine = (format: 'csv' | 'jsonl', event: UsageEvent): string => {
  const record = recordOf(event);
  return format === 'csv' ? csvLines([COLUMNS.map((name) => cellOf(record[name]))]) : `${JSON.stringify(record)}\n`;
};
