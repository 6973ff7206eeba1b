import * as z from 'zod';
import { InvalidRequest, InvalidValue } from '../../../shared/http/errors.ts';
import { pageQueryOf } from '../../../shared/http/page.ts';
import { Dollars, dollarsOf, nanosOf } from '../../../shared/prices/dollars.ts';
import { MAX_PRICE_NANOS } from '../../../shared/prices/price.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import { OrganizationId } from '../organizations/organization.ts';
import type { ListPrice } from './figures.ts';

const MAX_DAYS = 366;

const DAY_FAULT = 'expected a day, such as "2026-11-01"';
const Day = z.iso.date(DAY_FAULT).refine((day) => !day.startsWith('0'), DAY_FAULT);

const ListDollars = Dollars.refine(
  (dollars) => (nanosOf(dollars) ?? 0n) <= BigInt(MAX_PRICE_NANOS),
  `expected at most ${dollarsOf(BigInt(MAX_PRICE_NANOS))} dollars`,
).optional();

export const EconomicsQuery = z.strictObject({
  from: Day.meta({ description: 'The first UTC day.', examples: ['2026-11-01'] }),
  to: Day.optional().meta({ description: `The day after the last one, at most ${MAX_DAYS} days later. Default: tomorrow.` }),
  group_by: z
    .enum(['day', 'month'])
    .default('month')
    .meta({ description: 'The period of a row: a UTC day or month, cut to the days that are asked for.' }),
  by: z.enum(['deployment', 'model', 'organization']).default('deployment').meta({
    description:
      '`model`: everything that a deployment did counts for the name that it serves. `organization`: for the owner of the deployment.',
  }),
  organization: OrganizationId.optional().meta({
    description: 'The organization whose deployments to show. Defaults to your own; for admins, to all.',
  }),
  deployment: z.string().min(1).max(64).optional().meta({ description: 'Only the deployment with this id.' }),
  list_prompt: ListDollars.meta({
    description: 'With `list_completion`: what another provider charges for a million prompt tokens, in dollars, to compare with.',
    examples: ['0.22'],
  }),
  list_completion: ListDollars.meta({ description: 'The same for a million completion tokens.', examples: ['0.22'] }),
  after: pageQueryOf('organization').after,
  format: z.enum(['json', 'csv']).default('json').meta({ description: '`csv`: the same rows as text.' }),
});
export type EconomicsQuery = z.output<typeof EconomicsQuery>;

/** UTC days, such as `2026-11-01`; the last one is exclusive. */
export interface DayRange {
  from: string;
  to: string;
}

/** Returns the days of a query. @throws 400 */
export const rangeOf = ({ from, to: until }: EconomicsQuery, nowMs: number): DayRange => {
  const to = until ?? dayOf(nowMs + DAY_MS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS;
  if (days < 1 || days > MAX_DAYS)
    throw new InvalidValue('to', `expected a day after 'from', at most ${MAX_DAYS} days later. 'to' itself is not included`);
  return { from, to };
};

/** Returns the price to compare with; undefined without one. @throws 400 */
export const listPriceOf = ({ list_prompt, list_completion }: EconomicsQuery): ListPrice | undefined => {
  if (list_prompt === undefined && list_completion === undefined) return undefined;
  if (list_prompt === undefined || list_completion === undefined)
    throw new InvalidRequest({
      param: list_prompt === undefined ? 'list_prompt' : 'list_completion',
      message: "'list_prompt' and 'list_completion' must be sent together. Add the one that is missing, such as '0.22'.",
    });
  return { prompt_nanos: Number(nanosOf(list_prompt)), completion_nanos: Number(nanosOf(list_completion)) };
};
