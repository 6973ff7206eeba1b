import { OutOfTime } from '../../../../functions/billing/close/read-day.ts';
import { dueExpiries } from '../../../../functions/billing/credit-expiry/due-expiries.ts';
import { type ExpiryDependencies, expireCredit } from '../../../../functions/billing/credit-expiry/expire-credit.ts';
import { type RerateEventsDependencies, rerateEvents } from '../../../../functions/billing/rerate/rerate-events.ts';
import { createLimiterConfigurationStore } from '../../../../shared/admission/stores/limiter-configuration-store.ts';
import type { Invoice } from '../../../../shared/billing/invoice.ts';
import { closableAt, monthOf, nextMonth, startOfMonth } from '../../../../shared/billing/month.ts';
import type { Rerate } from '../../../../shared/billing/rerate.ts';
import { createRerateStore } from '../../../../shared/billing/rerate-store.ts';
import { remainingOfGrants } from '../../../../shared/credit/credit-consumption.ts';
import { createCreditStore, type Grant, isGrant } from '../../../../shared/credit/credit-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { Conflict } from '../../../../shared/http/errors.ts';
import { newRequestId, requestTimeMs } from '../../../../shared/ids/request-id.ts';
import { costNanos, type Price } from '../../../../shared/prices/price.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../shared/time/units.ts';
import { dayOf } from '../../../../shared/time/utc.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { RETENTION_DAYS } from '../../../../shared/usage/organization-totals.ts';
import { addEvent, noTotals } from '../../../../shared/usage/totals.ts';
import { createUsageStore } from '../../../../shared/usage/usage-store.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { Crash, unreliable } from '../../../support/faults/unreliable-database.ts';
import type { Closing } from '../../../support/fixtures/closing.ts';
import { deploymentsOf } from '../../../support/fixtures/deployments.ts';
import { grantCredit } from '../../../support/fixtures/grant-credit.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

export const BORN_MS = Date.parse('2026-01-10T12:00:00Z');
// A settlement that waits in a queue takes up to a day longer.
const ANSWER_MS = 16 * MINUTE_MS;
const QUEUED_MS = 20 * HOUR_MS;
const TOTALS_LATE_MS = 2 * DAY_MS;
// Checks of an expiry, with late totals and the second check after two days.
const LOOKS_MS = 5 * DAY_MS;
const CENT = 10_000_000n;

const DEAR: Price = { version: 'dear', effective_at: 0, prompt_nanos: 3_000_000_007, completion_nanos: 9_000_000_001 };
const CHEAP: Price = { version: 'cheap', effective_at: 1, prompt_nanos: 1_000_000_003, completion_nanos: 2_000_000_009 };
// Usage of other models is never rated again, so that the rest of a grant stays the same.
const RERATED = 'small';
const PREPAID = 'prepaid';

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, nanos) => total + nanos, 0n);
const isWhole = ({ request_id }: UsageEvent): boolean => !request_id.includes('#');

interface Hold {
  requestId: string;
  atMs: number;
  nanos: bigint;
  isQueued: boolean;
}

/** Where a function process crashes: before or after the write with this number; undefined: nowhere. */
export type Kill = { write: number; when: 'before' | 'after' } | undefined;

/** The usage, credit and invoices of one organization over months, in a real database, with a clock of its own. */
export const createLife = async (database: TestDatabase, closing: Closing) => {
  const organization = newId('organization');
  const key = await closing.addKey(organization, { createdMs: BORN_MS });
  await limitOrganization(database.limiters, organization, { isPrepaid: true }, BORN_MS);
  const credit = createCreditStore(database.database, database.tables.Accounts as string);
  const organizations = {
    getMany: async (ids: readonly string[]) => ids.map((id) => ({ id, name: id, createdAtMs: BORN_MS })),
  };
  const holds: Hold[] = [];
  let nowMs = BORN_MS;
  let rolledUpMs = BORN_MS;
  const now = (): number => nowMs;

  /** The database of a function process. */
  const databaseOf = (kill: Kill): Database => {
    if (!kill) return database.database;
    let writes = 0;
    const crash = (operation: string, when: 'before' | 'after'): boolean =>
      ['put', 'update', 'delete', 'transactWrite'].includes(operation) && when === kill.when && writes++ === kill.write;
    return unreliable(database.database, { random: () => 1, lostRequests: 0, lostReplies: 0, crash });
  };
  const limitersOver = (over: Database) => createLimiterConfigurationStore(over, database.tables.Keys as string);
  const expiring = (over: Database): ExpiryDependencies => ({
    ...closing.dependencies({ database: over, now }),
    limiters: limitersOver(over),
    credit: createCreditStore(over, database.tables.Accounts as string),
    deployments: deploymentsOf({ database: over, tables: database.tables }),
  });
  const rerating = (over: Database): RerateEventsDependencies => {
    const { organizations: _, ...dependencies } = closing.dependencies({ database: over, now });
    return {
      ...dependencies,
      usage: { ...dependencies.usage, toPut: createUsageStore(over, database.tables.Usage as string).toPut },
      gpuEvents: createGpuEventStore(over, database.tables.Usage as string),
      limiters: limitersOver(over),
      rerates: createRerateStore(createRecordTable(over, database.tables.Billing as string)),
      keysTable: database.tables.Keys as string,
      organizations: async function* () {},
    };
  };

  /** Runs a task in a process that is killed, and then again in another one, as the queue delivers it. */
  const run = async (kill: Kill, task: (over: Database) => Promise<unknown>): Promise<void> => {
    try {
      await task(databaseOf(kill));
    } catch (error) {
      const first = error instanceof AggregateError ? error.errors[0] : error;
      if (!(first instanceof Crash)) throw error;
      await task(database.database);
    }
  };

  const events = async (): Promise<UsageEvent[]> => {
    const found: UsageEvent[] = [];
    for (const atMs of closing.partitionsOf(key)) for await (const event of closing.usage.listByBucket(key, atMs)) found.push(event);
    return found;
  };
  const availableNanos = async (): Promise<bigint> => BigInt((await database.limiters.whole(organization))?.avail ?? 0);
  const ledger = (): Promise<Grant[]> => Array.fromAsync(credit.list(organization));
  const addAvailable = async (nanos: bigint): Promise<void> => {
    const avail = BigInt((await database.limiters.get(organization))?.avail ?? 0) + nanos;
    await database.limiters.configure(organization, { avail } as never);
  };

  const store = async (requestId: string, admittedMs: number, tokens: number, prepaidNanos?: bigint): Promise<void> => {
    const usage = { promptTokens: tokens, cachedTokens: 0, completionTokens: 1 };
    await closing.addUsage({
      request_id: requestId,
      key_id: key,
      org_id: organization,
      admitted_at: admittedMs,
      model: prepaidNanos === undefined ? RERATED : PREPAID,
      prompt_tokens: tokens,
      completion_tokens: 1,
      price_version: DEAR.version,
      cost_nanos: prepaidNanos ?? costNanos(DEAR, usage),
      ...(prepaidNanos !== undefined && { is_prepaid: true as const }),
    });
  };

  const showHolds = (): Promise<void> =>
    database.limiters.configure(organization, {
      fl: Object.fromEntries(holds.map(({ requestId, atMs, nanos }) => [requestId, [atMs, null, nanos, 1]])),
    } as never);

  /** The event of a request is written before its hold is released. */
  const settle = async (hold: Hold, part: bigint): Promise<void> => {
    const cost = (hold.nanos * part) / 100n;
    await store(hold.requestId, hold.atMs, 1, cost);
    holds.splice(holds.indexOf(hold), 1);
    await showHolds();
    await addAvailable(hold.nanos - cost);
  };

  /** Brings totals up to date, but for days whose parts have expired. */
  const rollUp = async (): Promise<void> => {
    rolledUpMs = nowMs;
    const oldest = nowMs - RETENTION_DAYS.hour * DAY_MS;
    const recent = (await events()).filter(({ request_id }) => requestTimeMs(request_id) >= oldest);
    await closing.rollUp(recent);
    for (const [place, of] of Map.groupBy(recent, ({ request_id, model }) => `${dayOf(requestTimeMs(request_id))} ${model}`)) {
      const [day = '', model = ''] = place.split(' ');
      const totals = noTotals();
      for (const event of of) addEvent(totals, event);
      await closing.rollups.put({ keyId: key, day, model, orgId: organization, totals });
    }
  };

  const closable = (): string[] => {
    const months: string[] = [];
    for (let month = monthOf(BORN_MS); closableAt(month) <= nowMs; month = nextMonth(month)) months.push(month);
    return months;
  };
  const invoices = async (): Promise<Invoice[]> =>
    (await Promise.all(closable().map((month) => closing.invoices.ofMonth(organization, month)))).flat();

  const close = (month: string, kill: Kill): Promise<void> =>
    run(kill, (over) => closing.close(organization, month, { database: over, now, organizations }));

  const expire = async (kill: Kill): Promise<void> => {
    const due = await Array.fromAsync(dueExpiries({ credit, now }));
    if (!due.some((expiry) => expiry.organization === organization)) return;
    await run(kill, (over) => expireCredit(expiring(over), { organization })).catch((error: unknown) => {
      // Totals are late: the next check finds them.
      if (!(error instanceof Error) || error instanceof OutOfTime || !error.message.startsWith('The totals of')) throw error;
    });
  };

  /** Moves the clock. Requests end in time, and their settlements leave the queue within a day. */
  const moveTo = async (toMs: number): Promise<void> => {
    for (const hold of [...holds]) if (toMs - hold.atMs > (hold.isQueued ? QUEUED_MS : ANSWER_MS)) await settle(hold, 37n);
    nowMs = Math.max(nowMs, toMs);
  };

  /** Moves the clock. At 01:00 of each day, credit expires; totals are late by two days at most. */
  const advance = async (toMs: number): Promise<void> => {
    for (let atMs = Math.floor(nowMs / DAY_MS) * DAY_MS + HOUR_MS; atMs < toMs; atMs += DAY_MS) {
      if (atMs <= nowMs) continue;
      await moveTo(atMs);
      if (nowMs - rolledUpMs >= TOTALS_LATE_MS) await rollUp();
      await expire(undefined);
    }
    await moveTo(toMs);
  };

  const rerate = async (fromMs: number, toMs: number, [from, to]: readonly [Price, Price], kill: Kill): Promise<void> => {
    const row: Rerate = {
      id: newId('rerate'),
      subject: { kind: 'model', name: RERATED, from, to },
      start_time: fromMs,
      end_time: toMs,
      organization,
      reason: 'The price was wrong.',
      actor: 'user_1',
      created_at: nowMs,
      executed_at: nowMs,
      phase: 'execution',
      version: 1,
    };
    const rerates = createRerateStore(createRecordTable(database.database, database.tables.Billing as string));
    await transact(database.database, rerates.toCreate(row));
    await run(kill, (over) => rerateEvents(rerating(over), { organization, rerate: row.id }));
    // Every request of the range has the new price, by the time of its arrival.
    const all = await events();
    for (const event of all.filter(isWhole)) {
      const atMs = requestTimeMs(event.request_id);
      if (event.model !== RERATED || atMs < fromMs || atMs >= toMs) continue;
      const ratings = all.filter(({ request_id }) => request_id.startsWith(event.request_id));
      if (ratings.at(-1)?.price_version === from.version) throw new Error(`${event.request_id} has kept the price ${from.version}.`);
    }
  };

  return {
    organization,
    key,
    now,
    advance,
    rollUp,
    expire,
    rerate: (fromMs: number, toMs: number, isBack: boolean, kill: Kill): Promise<void> =>
      rerate(fromMs, toMs, isBack ? [CHEAP, DEAR] : [DEAR, CHEAP], kill),
    events,
    ledger,
    invoices,
    closable,

    /** A request; `waits`: it arrives in the last millisecond before the next midnight, and is admitted after it. */
    use: async (tokens: number, waits: boolean): Promise<void> => {
      if (!waits) return store(newRequestId(nowMs), nowMs, tokens);
      const midnight = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
      await advance(midnight + 200);
      await store(newRequestId(midnight - 1), nowMs, tokens);
    },

    /** A request that holds a part of the credit. */
    hold: async (percent: bigint, isQueued: boolean): Promise<void> => {
      const nanos = ((await availableNanos()) * percent) / 100n;
      if (nanos <= 0n) return;
      await addAvailable(-nanos);
      holds.push({ requestId: newRequestId(nowMs), atMs: nowMs, nanos, isQueued });
      await showHolds();
    },
    settleAll: async (): Promise<void> => {
      for (const hold of [...holds]) await settle(hold, 37n);
    },

    grant: (dollars: bigint, days: number | undefined): Promise<unknown> =>
      grantCredit(
        { database: database.database, limiters: database.limiters, credit },
        {
          organization,
          amount_nanos: dollars * 100n * CENT,
          actor: 'finance',
          reason: 'prepayment',
          granted_at: nowMs,
          ...(days !== undefined && { expires_at: (Math.floor(nowMs / DAY_MS) + days) * DAY_MS }),
        },
      ),

    /** Tries to close months in any order; those that are not next wait. */
    closeMonths: async (order: (months: string[]) => string[], kill: Kill): Promise<void> => {
      for (const month of order(closable())) {
        await close(month, kill);
        const closed = await Promise.all(closable().map((each) => closing.billedMonths.get(organization, each)));
        const { last_closed_month: last } = await closing.billedMonths.getState(organization);
        const missing = closable().filter((each, i) => last !== null && each <= last && closed[i] === undefined);
        for (const each of missing)
          if ((await closing.invoices.ofMonth(organization, each)).length === 0) throw new Error(`${last} was closed before ${each}.`);
      }
    },

    /** Makes the last issued invoice void, if nothing was built on it. */
    voidLast: async (): Promise<void> => {
      const invoice = (await invoices()).findLast(({ state }) => state === 'issued');
      if (!invoice) return;
      try {
        const restored = await closing.billedMonths.toRestore(invoice);
        await transact(database.database, [...closing.invoices.toReplace(invoice, { state: 'void' }), ...restored]);
      } catch (error) {
        // A later invoice builds on it.
        if (!(error instanceof Conflict)) throw error;
      }
    },

    /** Nanos of credit: granted, spent, expired, held and available. */
    balance: async () => {
      const entries = await ledger();
      const spent = sum((await events()).filter(({ is_prepaid }) => is_prepaid).map(({ cost_nanos }) => cost_nanos));
      return {
        granted: sum(entries.filter(isGrant).map(({ amount_nanos }) => amount_nanos)),
        spent,
        expired: -sum(entries.filter(({ expired_grant }) => expired_grant !== undefined).map(({ amount_nanos }) => amount_nanos)),
        held: sum(holds.map(({ nanos }) => nanos)),
        available: await availableNanos(),
      };
    },

    /**
     * The rest of each grant at its expiry by the events, the expired amounts, and the spending until the last check.
     */
    expiries: async () => {
      const entries = await ledger();
      const prepaid = (await events()).filter(({ is_prepaid }) => is_prepaid);
      const costs = new Map<string, bigint>();
      for (const { request_id, cost_nanos } of prepaid) {
        const day = dayOf(requestTimeMs(request_id));
        costs.set(day, (costs.get(day) ?? 0n) + cost_nanos);
      }
      return entries.filter(isGrant).flatMap(({ number, expires_at }) => {
        if (expires_at === undefined || expires_at + LOOKS_MS > nowMs) return [];
        const expired = -sum(entries.filter(({ expired_grant }) => expired_grant === number).map(({ amount_nanos }) => amount_nanos));
        const after = prepaid.filter(({ request_id }) => {
          const atMs = requestTimeMs(request_id);
          return atMs >= expires_at && atMs < expires_at + LOOKS_MS;
        });
        return {
          left: remainingOfGrants(entries, costs, expires_at).get(number) ?? 0n,
          expired,
          after: sum(after.map((e) => e.cost_nanos)),
        };
      });
    },

    /** Ends all running requests, and closes all months until late usage is billed, too. */
    end: async (): Promise<void> => {
      for (const hold of [...holds]) await settle(hold, 37n);
      for (let look = 0; look < 4; look++) {
        await rollUp();
        await expire(undefined);
        await advance(nowMs + 2 * DAY_MS);
      }
      for (let month = 0; month < 2; month++) {
        await rollUp();
        await expire(undefined);
        for (const each of closable()) await close(each, undefined);
        await advance(startOfMonth(nextMonth(monthOf(nowMs))) + 2 * HOUR_MS);
      }
      await rollUp();
      for (const each of closable()) await close(each, undefined);
    },
  };
};

export type Life = Awaited<ReturnType<typeof createLife>>;
