import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../../functions/control/api-keys/create-api-key.ts';
import type { RequestList } from '../../../../../functions/control/observability/requests/list-requests.ts';
import { requestSearchRoutes } from '../../../../../functions/control/observability/requests/search-routes.ts';
import { createOrganization } from '../../../../../functions/control/organizations/create-organization.ts';
import { REGION } from '../../../../../infra/assembly/resolve.ts';
import { type AwsCaller, createCaller } from '../../../../../shared/aws/caller.ts';
import type { Database } from '../../../../../shared/database/database.ts';
import { createDirectDatabase } from '../../../../../shared/database/direct-database.ts';
import type { ApiEvent } from '../../../../../shared/http/api-event.ts';
import type { Reply } from '../../../../../shared/http/reply.ts';
import { createRequestRowStore } from '../../../../../shared/observability/request-row-store.ts';
import { eventOf } from '../../../../support/emulators/api-event.ts';
import type { TestDatabase } from '../../../../support/emulators/database.ts';
import { accountStores } from '../../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../../support/fixtures/stored-users.ts';

/** The clock of these tests. */
export const NOW = Date.UTC(2026, 10, 21, 12, 34, 56);

const [LIST, EXPORT] = requestSearchRoutes;

// DynamoDB returns it if it is asked for it.
interface QueryCost {
  ScannedCount?: number;
  ConsumedCapacity?: { CapacityUnits?: number };
}

const amountIn = (text: string, name: string): number => Number(new RegExp(`"${name}":([0-9.]+)`).exec(text)?.[1]);

/** The client of `inference`, whose queries also return what they have read. */
export const openCountingDatabase = (endpoint: string): Database => {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const bounds = { connectMs: 5_000, silenceMs: 60_000, maxReplyBytes: 20_000_000, maxSockets: 10 };
  const { call } = createCaller({ service: 'dynamodb', endpoint, region: REGION, credentials, ...bounds });
  const counting: Pick<AwsCaller, 'call'> = {
    call: (request, attempts, read) =>
      call(request, attempts, (reply) => {
        const text = reply.body.toString();
        const cost: QueryCost = {
          ScannedCount: amountIn(text, 'ScannedCount'),
          ConsumedCapacity: { CapacityUnits: amountIn(text, 'CapacityUnits') },
        };
        return Object.assign(read(reply) as object, cost) as ReturnType<typeof read>;
      }),
  };
  return createDirectDatabase(counting as AwsCaller, 1);
};

/**
 * The routes that search requests, over the emulator, with what their queries have read.
 * @param rows the database with the rows of requests, if it is another one
 */
export const requestSearches = (emulator: TestDatabase, rows: Database = emulator.database) => {
  const read = { items: 0, queries: 0, units: 0 };
  const counted: Database = {
    ...rows,
    query: async (input) => {
      const reply = await rows.query(Object.assign(input, { ReturnConsumedCapacity: 'TOTAL' }));
      const { ScannedCount, ConsumedCapacity }: QueryCost = reply as object;
      read.queries++;
      read.items += ScannedCount ?? reply.Items?.length ?? 0;
      read.units += ConsumedCapacity?.CapacityUnits ?? 0;
      return reply;
    },
  };
  const stores = accountStores(emulator);
  let minute = 0;
  // Each search is in a minute of its own, because a user can make only so many in one.
  const calls: typeof stores.calls = {
    ...stores.calls,
    countCall: (limits, call) => stores.calls.countCall(limits, call, ++minute * 60_000),
  };
  const requestRows = createRequestRowStore(counted, emulator.tables.Observability as string);
  const send = (route: typeof LIST | typeof EXPORT, actor: Actor, query: string): Promise<Reply> => {
    const parameters = new URLSearchParams(query);
    const event = {
      ...eventOf('/'),
      pathParameters: null,
      requestContext: {} as ApiEvent['requestContext'],
      queryStringParameters: Object.fromEntries(parameters),
      multiValueQueryStringParameters: Object.fromEntries([...parameters.keys()].map((name) => [name, parameters.getAll(name)])),
    };
    if (!route) throw new Error('There is no such route.');
    return route.handle({ ...stores, calls, requestRows, authenticate: async () => ({ actor }) }, event);
  };
  const list = async (actor: Actor, query = ''): Promise<RequestList> => JSON.parse((await send(LIST, actor, query)).body);
  return {
    read,
    requestRows,
    list,
    /** A part of an export. */
    exportPart: (actor: Actor, query = '') => send(EXPORT, actor, query),
    /** The ids on all pages. */
    listAll: async (actor: Actor, query = ''): Promise<string[]> => {
      const ids: string[] = [];
      for (let after = '', pages = 0; pages < 100; pages++) {
        const page = await list(actor, `${query}${after}`);
        ids.push(...page.data.map(({ id }) => id));
        if (page.next === null) return ids;
        after = `&after=${page.next}`;
      }
      throw new Error('The search does not end.');
    },
    actor: (role: Actor['role'], organization: string | null): Promise<Actor> => storeUser(stores, { role, organization, nowMs: NOW }),
    newOrganization: async (admin: Actor): Promise<string> => (await createOrganization(stores, admin.origin, { name: 'Acme' })).id,
    newKey: async (actor: Actor): Promise<string> => (await createApiKey(stores, actor, NewApiKey.parse({ name: 'own' }))).id,
  };
};
