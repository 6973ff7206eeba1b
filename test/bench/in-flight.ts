import { type Admission, admit, type Keys } from '../../functions/inference/admission/admit.ts';
import { settle } from '../../functions/inference/pipeline/settle-request.ts';
import { openLocalDatabase } from '../../infra/local/dynamodb/open-database.ts';
import { type PresentedKey, parseSecret } from '../../shared/admission/item/secret.ts';
import { createLimiterCache } from '../../shared/admission/stores/limiter-cache.ts';
import { createLimiterStore } from '../../shared/admission/stores/limiter-store.ts';
import type { Database } from '../../shared/database/database.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { newRequestId } from '../../shared/ids/request-id.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import type { TestRun } from '../support/clients/local-run.ts';
import { eventOf } from '../support/fixtures/completed-event.ts';
import { limitOrganization } from '../support/fixtures/limit-organization.ts';
import { newId } from '../support/fixtures/new-id.ts';
import { sum } from './lib/statistics.ts';
import { startObserver } from './observer.ts';
import type { Findings, Row } from './report.ts';

const IN_FLIGHT = [1, 64, 250, 1_000, 10_000];
// Admitted, settled and released while the others are in flight.
const MEASURED_REQUESTS = 50;
const PARALLEL = 48;
const TOKENS = 500;
// A tenth of a cent for each request.
const HOLD_NANOS = 1_000_000n;
const DOLLARS = 10n ** 12n;

const KINDS = [
  { name: 'a plain key', hasOrganization: false, target: 4 },
  { name: "an organization's credit and budget", hasOrganization: true, target: 7 },
];

// The default limit of an organization.
const ORGANIZATION_CONCURRENCY = 1_000;

// The key's limits are half as high again as the number of requests in flight.
const createKey = async (run: TestRun, inFlight: number, hasOrganization: boolean): Promise<PresentedKey> => {
  const organization = newId('organization');
  const concurrency = Math.max(32, Math.ceil(inFlight * 1.5));
  const { secret } = await run.createKey({
    org: organization,
    requests_per_minute: 60 * concurrency,
    tokens_per_minute: 1_000_000_000,
    concurrency,
  });
  if (hasOrganization) {
    const limits = { concurrency: Math.max(ORGANIZATION_CONCURRENCY, concurrency), budgets: { month: DOLLARS }, isPrepaid: true };
    await limitOrganization(run.limiters, organization, limits);
    await run.limiters.addGrant(organization, 1, DOLLARS);
  }
  return parseSecret(secret) as PresentedKey;
};

const open = (run: TestRun, database: Database, cache = createLimiterCache()) => {
  const keys: Keys = { store: createLimiterStore(database, run.tables.Keys as string), cache, now: Date.now };
  return { keys, usage: createUsageStore(database, run.tables.Usage as string) };
};

const admitOne = (keys: Keys, key: PresentedKey): Promise<Admission> =>
  admit(keys, { key, model: 'm', requestId: newRequestId(Date.now()), tokens: TOKENS, maxCostNanos: () => HOLD_NANOS });

// The reservations of the others are made here, with the gateway's own code, and stay open.
const measureOne = async (
  run: TestRun,
  observed: { database: Database; take: () => { writeUnits: number }[] },
  inFlight: number,
  hasOrganization: boolean,
): Promise<number> => {
  const key = await createKey(run, inFlight, hasOrganization);
  const { keys } = open(run, run.database);
  const admitOpen = async (): Promise<void> => {
    await (await admitOne(keys, key)).growth;
  };
  // One request first, so that the others know the key. One of those that are in flight is the measured one.
  throwFailures(await inParallel(Array(Math.min(1, inFlight - 1)), 1, admitOpen));
  throwFailures(await inParallel(Array(Math.max(0, inFlight - 2)), PARALLEL, admitOpen));
  const stores = open(run, observed.database, keys.cache);
  // A warm request: the environment knows the key and its organization.
  for (let request = -1; request < MEASURED_REQUESTS; request++) {
    if (request === 0) observed.take();
    const admission = await admitOne(stores.keys, key);
    await settle(stores, admission, eventOf(admission, { tokens: TOKENS, costNanos: HOLD_NANOS / 2n }));
  }
  return sum(observed.take().map(({ writeUnits }) => writeUnits)) / MEASURED_REQUESTS;
};

/**
 * Measures what a request writes while up to ten thousand others of its key, and of its organization, are in flight.
 */
export const measureInFlight = async (run: TestRun): Promise<Findings> => {
  const observer = await startObserver(run.dynamodb_endpoint, run.container_url);
  const database = openLocalDatabase(observer.databaseUrl);
  const rows: Row[] = [];
  const startedAt = performance.now();
  try {
    for (const { name, hasOrganization, target } of KINDS)
      for (const inFlight of IN_FLIGHT) {
        const sluice = await measureOne(run, { database, take: observer.take }, inFlight, hasOrganization);
        rows.push({ figure: `write units a request, ${inFlight} in flight, ${name}`, digits: 2, sluice, target });
      }
  } finally {
    database.destroy();
    await observer.close();
  }
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  return {
    rows,
    notes: [`\nUnits by requests in flight were measured in ${seconds} s, with the reservations of all requests made by admissions.`],
  };
};
