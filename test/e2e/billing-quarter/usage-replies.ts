import { currencyOf } from '../../../functions/control/billing/currency.ts';
import { CompletionsQuery, CostsQuery } from '../../../functions/control/query/usage-query.ts';
import { completionsUsage } from '../../../functions/control/usage/completions-usage.ts';
import { type CostsDependencies, costs } from '../../../functions/control/usage/costs.ts';
import { validate } from '../../../shared/http/validate.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { actorOf } from '../../support/fixtures/managed-models.ts';
import type { World } from './world.ts';

/** A query of the usage API, of whole days. */
export interface UsageQuery {
  from: string;
  to: string;
  width?: '1m' | '1h' | '1d';
  groupBy: readonly string[];
}

/** A result, with the fields that the query groups by. */
export interface UsageResult {
  startMs: number;
  by: (string | null)[];
  requests?: number;
  prompt?: number;
  cached?: number;
  completion?: number;
  quantity?: number | null;
  nanos: bigint;
}

// The rows of either route.
type Wire = Record<string, string | null> & {
  cost: string;
  num_model_requests: number;
  input_tokens: number;
  input_cached_tokens: number;
  output_tokens: number;
  quantity: number | null;
};
interface WirePage {
  data: { start_time: number; results: Wire[] }[];
  next_page: string | null;
}

const nanosOf = (dollars: string): bigint => {
  const [whole = '', decimals = ''] = dollars.split('.');
  return BigInt(whole + decimals.padEnd(9, '0'));
};

/** Reads usage and costs as an owner does, page by page, with the rules of the API. */
export const createUsageReplies = ({ totals, gpuEvents, organizations, apiKeys }: World) => {
  const deps: CostsDependencies = {
    organizations,
    apiKeys,
    organizationTotals: totals,
    gpuEvents,
    currency: async () => currencyOf(undefined),
  };

  const read = async (
    organization: string,
    { from, to, width = '1d', groupBy }: UsageQuery,
    ask: (actor: ReturnType<typeof actorOf>, query: Record<string, unknown>) => Promise<unknown>,
  ): Promise<{ startMs: number; result: Wire }[]> => {
    const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
    const actor = actorOf('owner', organization, toMs);
    const query = {
      start_time: String(fromMs / SECOND_MS),
      end_time: String(toMs / SECOND_MS),
      bucket_width: width,
      group_by: [...groupBy],
    };
    const results: { startMs: number; result: Wire }[] = [];
    for (let page: string | null | undefined; page !== null; ) {
      const reply = JSON.parse(JSON.stringify(await ask(actor, { ...query, ...(page !== undefined && { page }) }))) as WirePage;
      for (const bucket of reply.data)
        for (const result of bucket.results) results.push({ startMs: bucket.start_time * SECOND_MS, result });
      page = reply.next_page;
    }
    return results;
  };
  const namesIn = (groupBy: readonly string[], result: Wire) => groupBy.map((name) => result[name] ?? null);

  return {
    completions: async (organization: string, query: UsageQuery): Promise<UsageResult[]> => {
      const results = await read(organization, query, (actor, wire) => completionsUsage(deps, actor, validate(CompletionsQuery, wire)));
      return results.map(({ startMs, result }) => ({
        startMs,
        by: namesIn(query.groupBy, result),
        requests: result.num_model_requests,
        prompt: result.input_tokens,
        cached: result.input_cached_tokens,
        completion: result.output_tokens,
        nanos: nanosOf(result.cost),
      }));
    },

    costs: async (organization: string, query: UsageQuery): Promise<UsageResult[]> => {
      const results = await read(organization, query, (actor, wire) => costs(deps, actor, validate(CostsQuery, wire)));
      return results.map(({ startMs, result }) => ({
        startMs,
        by: namesIn(query.groupBy, result),
        ...(query.groupBy.includes('line_item') && { quantity: result.quantity }),
        nanos: nanosOf(result.cost),
      }));
    },
  };
};
