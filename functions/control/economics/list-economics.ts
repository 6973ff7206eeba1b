import { type Cell, csvLines } from '../../../shared/csv/csv.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { type Actor, isOfPlatform } from '../access/actor.ts';
import { Text } from '../access/route.ts';
import { linkToNext } from '../lists/export-part.ts';
import { type EconomicsQuery, listPriceOf, rangeOf } from './economics-query.ts';
import { type EconomicsRow, groupDays, toRow } from './economics-resource.ts';
import { type EconomicsDependencies, readEconomics } from './read-economics.ts';

/** Returns a page of what deployments cost and earn, as the actor can see it. @throws 400, 404 */
export const listEconomics = async (deps: EconomicsDependencies, actor: Actor, query: EconomicsQuery) => {
  const { nowMs } = actor.origin;
  const range = rangeOf(query, nowMs);
  const view = { isOwner: !isOfPlatform(actor), nowMs, listPrice: listPriceOf(query) };
  const { days, next } = await readEconomics(deps, actor, query, range);
  const data = groupDays(days, query, range).map((group) => toRow(group, view));
  return { object: 'list' as const, data, has_more: next !== null, next, currency: (await deps.currency()).code.toLowerCase() };
};

const CELLS: readonly (readonly [name: string, cellOf: (row: EconomicsRow) => unknown])[] = [
  ['from', ({ from }) => from],
  ['to', ({ to }) => to],
  ['organization', ({ organization }) => organization],
  ['deployment', ({ deployment }) => deployment],
  ['model', ({ model }) => model],
  ['is_final', ({ is_final }) => is_final],
  ['instance_seconds', ({ instance_seconds }) => instance_seconds.total],
  ['waking_seconds', ({ instance_seconds }) => instance_seconds.waking],
  ['busy_seconds', ({ instance_seconds }) => instance_seconds.busy],
  ['idle_seconds', ({ instance_seconds }) => instance_seconds.idle],
  ['draining_seconds', ({ instance_seconds }) => instance_seconds.draining],
  ['awake_seconds', ({ awake_seconds }) => awake_seconds],
  ['awake_days', ({ awake_days }) => awake_days],
  ['unused_days', ({ unused_days }) => unused_days],
  ['utilization', ({ utilization }) => utilization],
  ['requests', ({ requests }) => requests],
  ['prompt_tokens', ({ prompt_tokens }) => prompt_tokens],
  ['cached_tokens', ({ cached_tokens }) => cached_tokens],
  ['completion_tokens', ({ completion_tokens }) => completion_tokens],
  ['cost', ({ cost }) => cost],
  ['known_cost', ({ known_cost }) => known_cost],
  ['cost_missing', ({ cost_missing }) => cost_missing.join(' ')],
  ['uncosted_instance_seconds', ({ uncosted_instance_seconds }) => uncosted_instance_seconds],
  ['unmetered_tokens', ({ unmetered_tokens }) => unmetered_tokens],
  ['revenue_tokens', ({ revenue }) => revenue?.tokens],
  ['revenue_gpu_time', ({ revenue }) => revenue?.gpu_time],
  ['margin', ({ margin }) => margin],
  ['attribution', ({ attribution }) => attribution?.rule],
  ['prompt_share', ({ attribution }) => attribution?.prompt_share],
  ['cost_per_million_tokens', ({ cost_per_million }) => cost_per_million.tokens],
  ['cost_per_million_prompt', ({ cost_per_million }) => cost_per_million.prompt],
  ['cost_per_million_completion', ({ cost_per_million }) => cost_per_million.completion],
  ['tokens_per_second', ({ tokens_per_second }) => tokens_per_second],
  ['break_even_at_sold_price', ({ break_even_tokens_per_second }) => break_even_tokens_per_second.at_sold_price],
  ['break_even_at_list_price', ({ break_even_tokens_per_second }) => break_even_tokens_per_second.at_list_price],
  ['list_cost', ({ list_cost }) => list_cost],
];

// Integers of any size are objects that print as numbers.
const cell = (value: unknown): Cell => {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** The same page as CSV, with a `link` to the next one. @throws 400, 404 */
export const exportEconomics = async (deps: EconomicsDependencies, actor: Actor, query: EconomicsQuery, event: ApiEvent): Promise<Text> => {
  const { data, next } = await listEconomics(deps, actor, query);
  const lines = [CELLS.map(([name]) => name), ...data.map((row) => CELLS.map(([, cellOf]) => cell(cellOf(row))))];
  const link = next !== null && { link: linkToNext(event, next) };
  return new Text('text/csv; charset=utf-8', csvLines(lines), { 'content-disposition': 'attachment; filename="economics.csv"', ...link });
};
