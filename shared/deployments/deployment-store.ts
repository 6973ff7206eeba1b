import { createHash } from 'node:crypto';
import type { Database, Item } from '../database/database.ts';
import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import { queryItems } from '../database/query.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict, ResourceNotFound } from '../http/errors.ts';
import type { PageRequest } from '../http/page.ts';
import { fromStoredCapabilities, toStoredCapabilities } from '../models/stored-capabilities.ts';
import type { Adapter } from './adapter.ts';
import { BENCHMARK, CURVES } from './benchmark-store.ts';
import { DEPLOYMENT, Deployment, type GpuMeter, inState } from './deployment.ts';
import { shadowRecordKey } from './shadow-store.ts';

/** The index with every deployment that is not deleted. */
export const LIVE_INDEX = 'live';
const LIVE = 'live';
const StoredDeployment = ignoringUnknown(Deployment);
const MAX_LISTED_PAGES = 100;

const NAME = 'name#';
const recordKeyOf = (id: string): RecordKey => ({ account: id, record: DEPLOYMENT });
// Only one deployment of an organization has a served name at a time.
const nameRecordKey = (organization: string, name: string): RecordKey => ({ account: organization, record: NAME + name });

/** The record of a deployment's waiting list. */
export const WAITING = 'waiting';

// Incremented by every creation of the organization, so that two at the same time can't both be its last allowed one.
const creationsRecordKey = (organization: string): RecordKey => ({ account: organization, record: 'creations' });
const idempotencyRecordKey = (organization: string, key: string): RecordKey => ({
  account: organization,
  record: `key#${createHash('sha256').update(key).digest('base64url')}`,
});

/** Another deployment of the organization was created at the same time. */
export class CreatedMeanwhile extends Error {}

/** The organization has used this idempotency key. */
export class KeyUsed extends Error {}

/** The organization has a deployment or an adapter with this name: 409. */
export class DeploymentExists extends Conflict {
  constructor(name: string) {
    super({
      code: 'deployment_exists',
      param: 'name',
      message: `Your organization already has a deployment or an adapter named '${name}'. Change or delete that one, or choose another name.`,
    });
  }
}

const itemOf = ({ serving, ...deployment }: Deployment) => ({
  ...deployment,
  serving: toStoredCapabilities(serving),
  ...(deployment.state !== 'deleted' && { live: LIVE }),
});

const ofRow = (row: Item): Deployment => StoredDeployment.parse({ ...row, serving: fromStoredCapabilities(row.serving as Item) });

/**
 * The deployments in the table `deployments`: a row for each, and a row for each served name. The only code that
 * knows their keys.
 * @param table the records of that table
 */
export const createDeploymentStore = (table: RecordTable) => {
  const find = async (id: string): Promise<Deployment | undefined> => {
    const row = await table.get(recordKeyOf(id));
    return row && ofRow(row);
  };
  const getMany = async (ids: readonly string[]): Promise<Deployment[]> => (await table.getMany(ids.map(recordKeyOf))).map(ofRow);
  // Adapters have served names, too. There are a few for each deployment.
  const namesOf = async (organization: string): Promise<Item[]> =>
    (await Array.fromAsync(table.all({ account: organization, prefix: NAME }))).filter(({ adapter }) => adapter === undefined);
  return {
    find,

    /** The deployments with these ids, at most 100, in their order; missing ones are left out. */
    getMany,

    /** @throws 404, also for a deployment of another organization */
    get: async (organization: string, id: string): Promise<Deployment> => {
      const deployment = await find(id);
      if (deployment?.organization !== organization) throw new ResourceNotFound('deployment', id);
      return deployment;
    },

    /** The id of the organization's deployment with a served name, or of that with an adapter of this name. */
    idOf: async (organization: string, name: string): Promise<string | undefined> => {
      const row = await table.get(nameRecordKey(organization, name));
      return row && String(row.id);
    },

    /** An organization's deployments, by name. Deleted ones are left out. */
    list: async (organization: string, request: PageRequest): Promise<{ deployments: Deployment[]; hasMore: boolean }> => {
      const { limit, after = '' } = request;
      const rows = await namesOf(organization);
      const rest = rows.filter(({ record }) => Buffer.compare(Buffer.from(String(record)), Buffer.from(NAME + after)) > 0);
      return { deployments: await getMany(rest.slice(0, limit).map(({ id }) => String(id))), hasMore: rest.length > limit };
    },

    /**
     * How many deployments an organization has.
     * @returns the count, and the check that it is still right in the transaction of a creation: CreatedMeanwhile
     * otherwise
     */
    count: async (organization: string): Promise<{ count: number; toCheck: Write }> => {
      const recordKey = creationsRecordKey(organization);
      const row = await table.get(recordKey);
      const toCheck = { ...table.toSave(recordKey, { version: Number(row?.version ?? 0) }), refused: () => new CreatedMeanwhile() };
      return { count: (await namesOf(organization)).length, toCheck };
    },

    /** The id of the deployment that the organization created with an idempotency key. */
    idOfKey: async (organization: string, key: string): Promise<string | undefined> => {
      const row = await table.get(idempotencyRecordKey(organization, key));
      return row && String(row.id);
    },

    toUseKey: ({ organization, id }: Deployment, key: string): Write =>
      table.toCreate(idempotencyRecordKey(organization, key), { id }, () => new KeyUsed()),

    toCreate: (deployment: Deployment): Write[] => [
      table.toCreate(
        nameRecordKey(deployment.organization, deployment.name),
        { id: deployment.id },
        () => new DeploymentExists(deployment.name),
      ),
      table.toCreate(recordKeyOf(deployment.id), itemOf(deployment), () => new Error(`${deployment.id} already exists.`)),
    ],

    /** Takes the served name of an adapter, which no deployment and no other adapter of the organization can have. */
    toTakeName: ({ organization, id }: Deployment, adapter: Pick<Adapter, 'id' | 'name'>): Write =>
      table.toCreate(nameRecordKey(organization, adapter.name), { id, adapter: adapter.id }, () => new DeploymentExists(adapter.name)),

    /** Makes the served name of an adapter available again. */
    toFreeName: ({ organization }: Deployment, { name }: Pick<Adapter, 'name'>): Write => table.toDelete(nameRecordKey(organization, name)),

    /** Replaces the row that was read: 412 if another write came first. */
    toReplace: (deployment: Deployment): Write => table.toReplace(recordKeyOf(deployment.id), itemOf(deployment)),

    /**
     * Wakes a deployment that is asleep, if nothing was written since it was read: of any number of callers, one.
     * @param held the credit that it needs, and the meter that then holds it
     * @returns the deployment if this call woke it
     */
    wake: async (
      deployment: Deployment,
      nowMs: number,
      { meter, writes }: { meter?: GpuMeter; writes: readonly Write[] } = { writes: [] },
    ): Promise<Deployment | undefined> => {
      const waking = { ...inState(deployment, 'waking', nowMs), wake: { started_at: nowMs }, ...(meter && { meter }) };
      const { state, state_since, transitions, wake } = waking;
      const change = { set: { state, state_since, transitions, wake, ...(meter && { meter }) }, remove: ['reason'] };
      const isWoken = await table.change(recordKeyOf(deployment.id), deployment.version, change, writes);
      return isWoken ? { ...waking, version: deployment.version + 1 } : undefined;
    },

    /**
     * Removes what belongs to a deployment that is deleted: its served name, which is then available again, its waiting
     * list, its comparisons and its benchmarks.
     */
    toClear: ({ id, organization, name, shadows = [] }: Deployment): Write[] => [
      table.toDelete(nameRecordKey(organization, name)),
      table.toDelete({ account: id, record: WAITING }),
      ...shadows.map(({ number }) => table.toDelete(shadowRecordKey(id, number))),
      table.toDelete({ account: id, record: BENCHMARK }),
      table.toDelete({ account: id, record: CURVES }),
    ],
  };
};

export type DeploymentStore = ReturnType<typeof createDeploymentStore>;

const liveQuery = (table: string) => ({
  TableName: table,
  IndexName: LIVE_INDEX,
  KeyConditionExpression: '#live = :live',
  ExpressionAttributeNames: { '#live': LIVE },
  ExpressionAttributeValues: { ':live': LIVE },
});

/** The ids of all deployments that are not deleted. @param table the name of the table `deployments` */
export async function* listLiveDeployments(database: Database, table: string): AsyncGenerator<string> {
  for await (const { account } of queryItems(database, liveQuery(table), MAX_LISTED_PAGES)) yield String(account);
}

/**
 * A page of the ids of all deployments that are not deleted, in no particular order. The index is behind by a moment.
 * @param table the name of the table `deployments`
 * @param request `after` is an id, also one of a deployment that was deleted meanwhile
 */
export const pageOfLiveDeployments = async (
  database: Database,
  table: string,
  { limit, after }: PageRequest,
): Promise<{ ids: string[]; next: string | null }> => {
  const start = after !== undefined && { ExclusiveStartKey: { ...recordKeyOf(after), [LIVE_INDEX]: LIVE } };
  const { Items = [], LastEvaluatedKey } = await database.query({ ...liveQuery(table), Limit: limit, ...start });
  const ids = Items.map(({ account }) => String(account));
  return { ids, next: LastEvaluatedKey ? (ids.at(-1) ?? null) : null };
};
