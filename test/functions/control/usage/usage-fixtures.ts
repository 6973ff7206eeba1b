import fc from 'fast-check';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { currencyOf } from '../../../../functions/control/billing/currency.ts';
import type { CostsDependencies } from '../../../../functions/control/usage/costs.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { DETAILS, type Detail, SPAN_MS, type TotalsSpan } from '../../../../shared/usage/organization-totals.ts';
import { createOrganizationTotalsStore, type TotalsRow } from '../../../../shared/usage/organization-totals-store.ts';
import { addEvent, noTotals } from '../../../../shared/usage/totals.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

/** The clock of these tests: Saturday, 12:34:56. */
export const NOW = Date.UTC(2026, 10, 21, 12, 34, 56);

/** An event as these tests need it: of a deployment, if it names one. */
export interface PlainEvent {
  event: UsageEvent;
  deployment: string | null;
}

/** Whatever an event can be grouped by. */
export interface EventFacts {
  atMs: number;
  key: string;
  project?: string | undefined;
  model?: string | undefined;
  route?: string | undefined;
  user?: string | undefined;
  deployment?: string | undefined;
  tokens?: number | undefined;
  costNanos?: bigint | undefined;
}

export const eventOf = (organization: string, facts: EventFacts): PlainEvent => ({
  deployment: facts.deployment ?? null,
  event: {
    request_id: newRequestId(facts.atMs),
    key_id: facts.key,
    org_id: organization,
    ...(facts.project !== undefined && { project_id: facts.project }),
    ...(facts.model !== undefined && { model: facts.model }),
    ...(facts.route !== undefined && { route: facts.route }),
    ...(facts.user !== undefined && { user_id: facts.user }),
    prompt_tokens: facts.tokens ?? 10,
    cached_tokens: Math.floor((facts.tokens ?? 10) / 3),
    completion_tokens: 2 * (facts.tokens ?? 10),
    source: 'runtime',
    outcome: 'completed',
    finish_reason: 'stop',
    admitted_at: facts.atMs,
    time_to_first_token_ms: 5,
    duration_ms: 10,
    cost_nanos: facts.costNanos ?? 7n,
    price_version: '1',
  },
});

export const ROUTES = ['/v1/chat/completions', '/v1/responses'];
export const MODELS = ['small', 'large'];
export const USERS = ['ann', 'bob'];
export const KEYS = ['key_a', 'key_b', 'key_c'];
export const PROJECTS = ['prj_1', 'prj_2'];
export const DEPLOYMENTS = ['dep_1', 'dep_2'];
const LENGTH_MS = 2 * DAY_MS;

/** Events of the last two days. */
export const Facts: fc.Arbitrary<EventFacts> = fc.record({
  atMs: fc.integer({ min: NOW - LENGTH_MS, max: NOW - 1 }),
  key: fc.constantFrom(...KEYS),
  // A key can have had several.
  project: fc.constantFrom(...PROJECTS, undefined),
  model: fc.constantFrom(...MODELS, undefined),
  route: fc.constantFrom(...ROUTES, undefined),
  user: fc.constantFrom(...USERS, undefined),
  deployment: fc.constantFrom(...DEPLOYMENTS, undefined),
  tokens: fc.nat(1_000_000),
  costNanos: fc.bigInt({ min: 0n, max: 2n ** 60n }),
});

/** The rows of totals that the events add up to. */
export const rowsOf = (events: readonly PlainEvent[], spans: readonly TotalsSpan[], details: readonly Detail[] = DETAILS): TotalsRow[] => {
  const rows = new Map<string, TotalsRow>();
  for (const { event, deployment } of events)
    for (const span of spans)
      for (const detail of details) {
        const startMs = Math.floor(event.admitted_at / SPAN_MS[span]) * SPAN_MS[span];
        const of = {
          organization: event.org_id,
          span,
          detail,
          startMs,
          model: event.model ?? null,
          route: event.route ?? null,
          deployment,
          ...(event.side && event.alias !== undefined && { split: { alias: event.alias, side: event.side } }),
          ...(detail !== 'model' && { keyId: event.key_id, ...(event.project_id !== undefined && { projectId: event.project_id }) }),
          ...(detail === 'user' && { userId: event.user_id ?? null }),
        };
        const id = JSON.stringify(of);
        const row = rows.get(id) ?? { ...of, totals: noTotals() };
        rows.set(id, row);
        addEvent(row.totals, event);
      }
  return [...rows.values()];
};

/** The stores that the rules read, over the emulator, and how to fill them. */
export const usageStores = (emulator: TestDatabase, database: Database = emulator.database) => {
  const stores = accountStores(emulator);
  const table = emulator.tables.Usage as string;
  const totals = createOrganizationTotalsStore(emulator.database, table);
  const deps: CostsDependencies = {
    ...stores,
    organizationTotals: createOrganizationTotalsStore(database, table),
    gpuEvents: createGpuEventStore(database, table),
    currency: async () => currencyOf(undefined),
  };
  return {
    stores,
    deps,
    addRows: async (rows: readonly TotalsRow[]): Promise<void> => {
      throwFailures(await inParallel(rows, 32, async (row) => void (await totals.put(row))));
    },
    actor: (role: Actor['role'], organization: string | null): Promise<Actor> => storeUser(stores, { role, organization, nowMs: NOW }),
  };
};
export const SPANS_READ: readonly TotalsSpan[] = ['minute', 'hour', 'day'];
export const seconds = (ms: number): number => Math.floor(ms / 1_000);
