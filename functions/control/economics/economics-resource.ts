import * as z from 'zod';
import { exactInteger } from '../../../shared/http/json/json-numbers.ts';
import { pageOf } from '../../../shared/http/page.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import type { DayRange, EconomicsQuery } from './economics-query.ts';
import { type EconomicsSums, sumOf } from './economics-sums.ts';
import { figuresOf, type ListPrice } from './figures.ts';
import type { EconomicsDay } from './read-economics.ts';

// An integer of any size: sums are bigints.
const Count = z.unknown().meta({ type: 'integer', minimum: 0 });
const Decimal = z.string().meta({ description: 'An exact decimal number.', examples: ['12.34'] });
const OrNull = Decimal.nullable();
const Rounded = (description: string) => z.string().nullable().meta({ description });

const Row = z.object({
  object: z.literal('economics'),
  from: z.string().meta({ description: 'The first UTC day of the row.' }),
  to: z.string().meta({ description: 'The day after its last one.' }),
  organization: z.string().nullable(),
  deployment: z.string().nullable().meta({ description: 'Only by deployment; null for requests that no deployment served.' }),
  model: z.string().nullable().meta({ description: 'By deployment and by model: the served name.' }),
  is_final: z.boolean().meta({ description: 'False while usage of these days can still arrive: for two days after they end.' }),
  instance_seconds: z
    .object({ total: Count, waking: Count, busy: Count, idle: Count, draining: Count })
    .meta({ description: 'Instances × seconds. `busy`: at least one request was in flight. Each is in exactly one of the four.' }),
  awake_seconds: Count.meta({ description: 'The seconds with at least one instance, summed over deployments.' }),
  awake_days: z.int().meta({ description: 'Days of deployments with at least one instance.' }),
  unused_days: z.int().meta({ description: 'Those of them without any request.' }),
  utilization: Rounded('`busy` / `total`, with four decimals.'),
  requests: z.int(),
  prompt_tokens: Count,
  cached_tokens: Count.meta({ description: 'Those of the prompt tokens that the runtime had cached.' }),
  completion_tokens: Count,
  cost: OrNull.meta({
    description: 'For the platform: what the instances cost it. For the owner: what it was charged for GPU time. Null: see `cost_missing`.',
  }),
  known_cost: Decimal.meta({ description: 'The part of the cost that is known.' }),
  cost_missing: z.array(z.enum(['no_cost_price', 'not_metered'])).meta({
    description:
      'Why `cost` is null. `no_cost_price`: an instance type had no cost in force. `not_metered`: requests were served by an endpoint that is no deployment.',
  }),
  uncosted_instance_seconds: Count.meta({ description: 'The instance-seconds without a cost in force. Always 0 for owners.' }),
  unmetered_tokens: Count.meta({ description: 'The tokens that no deployment served.' }),
  revenue: z
    .object({ total: Decimal, tokens: Decimal, gpu_time: Decimal })
    .nullable()
    .meta({ description: 'What customers were charged for these tokens, and the owner for GPU time. Only for the platform.' }),
  margin: OrNull.meta({ description: 'Revenue − cost. Only for the platform.' }),
  attribution: z
    .object({ rule: z.enum(['phases', 'weight']), prompt_share: z.string() })
    .nullable()
    .meta({
      description:
        'How the cost is divided between prompts and completions. `phases`: by the measured time to the first token and after it. `weight`: a completion token counts as four prompt tokens.',
    }),
  cost_per_million: z
    .object({ tokens: OrNull, prompt: OrNull, completion: OrNull })
    .meta({ description: 'Cost per million tokens: of both kinds, of prompts and of completions. Rounded once to nine decimals.' }),
  tokens_per_second: Rounded('Tokens of both kinds per awake second.'),
  break_even_tokens_per_second: z.object({ at_sold_price: z.string().nullable(), at_list_price: z.string().nullable() }).meta({
    description:
      'The tokens per awake second, in the same mix, whose price would equal the cost: at what they were sold for, and at the list price.',
  }),
  list_cost: OrNull.meta({ description: 'The same tokens at `list_prompt` and `list_completion`; null without them.' }),
});
export type EconomicsRow = z.infer<typeof Row>;

export const EconomicsList = pageOf(Row).extend({
  currency: z.string().meta({ description: 'The lower-case ISO 4217 code.', examples: ['usd'] }),
});

// Usage can arrive so late: a settlement that waited, or a rating of credit that expired.
const SETTLED_AFTER_MS = 2 * DAY_MS;

const monthEnd = (day: string): string => {
  const [year = 0, month = 0] = day.split('-').map(Number);
  return dayOf(Date.UTC(year, month, 1));
};

const periodOf = (day: string, { group_by }: EconomicsQuery, { from, to }: DayRange): DayRange => {
  if (group_by === 'day') return { from: day, to: dayOf(Date.parse(day) + DAY_MS) };
  const first = `${day.slice(0, 7)}-01`;
  const end = monthEnd(day);
  return { from: first < from ? from : first, to: end > to ? to : end };
};

interface Group extends DayRange {
  organization: string;
  deployment: string | null;
  model: string | null;
  sums: EconomicsSums;
}

/** Adds up days by period and by deployment, model or organization, in an order that depends only on their content. */
export const groupDays = (days: readonly EconomicsDay[], query: EconomicsQuery, range: DayRange): Group[] => {
  const groups = new Map<string, Group>();
  for (const { day, sums, ...of } of days) {
    const period = periodOf(day, query, range);
    const deployment = query.by === 'deployment' ? of.deployment : null;
    const hasModel = query.by === 'model' || deployment !== null;
    const names = { organization: of.organization, deployment, model: hasModel ? of.model : null };
    const id = JSON.stringify([period.from, names.organization, names.model, names.deployment]);
    const group = groups.get(id);
    groups.set(id, { ...period, ...names, sums: group ? sumOf(group.sums, sums) : sums });
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
};

/** Converts a group to the wire. */
export const toRow = (
  { from, to, organization, deployment, model, sums }: Group,
  view: { isOwner: boolean; nowMs: number; listPrice: ListPrice | undefined },
): EconomicsRow => {
  const { seconds } = sums;
  return {
    object: 'economics',
    from,
    to,
    organization,
    deployment,
    model,
    is_final: view.nowMs >= Date.parse(to) + SETTLED_AFTER_MS,
    instance_seconds: {
      total: exactInteger(seconds.waking + seconds.busy + seconds.idle + seconds.draining),
      waking: exactInteger(seconds.waking),
      busy: exactInteger(seconds.busy),
      idle: exactInteger(seconds.idle),
      draining: exactInteger(seconds.draining),
    },
    awake_seconds: exactInteger(sums.awakeSeconds),
    awake_days: sums.awakeDays,
    unused_days: sums.unusedDays,
    requests: sums.requests,
    prompt_tokens: exactInteger(sums.promptTokens),
    cached_tokens: exactInteger(sums.cachedTokens),
    completion_tokens: exactInteger(sums.completionTokens),
    uncosted_instance_seconds: view.isOwner ? 0 : exactInteger(sums.uncostedSeconds),
    unmetered_tokens: exactInteger(sums.unmeteredTokens),
    ...figuresOf(sums, view),
  };
};
