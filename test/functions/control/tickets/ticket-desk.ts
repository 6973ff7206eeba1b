import type { Actor, UserRole } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import type { SignedInUser } from '../../../../functions/control/sessions/authenticate.ts';
import { createAttachmentStore } from '../../../../functions/control/tickets/attachments/attachment-store.ts';
import { ticketRoutes } from '../../../../functions/control/tickets/routes.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createStartTimesStore } from '../../../../shared/deployments/start-times-store.ts';
import { ApiError } from '../../../../shared/http/errors.ts';
import { createOutbox, OUTBOX_PREFIX, readOutboxEntry } from '../../../../shared/notifications/outbox.ts';
import { requestRowOf } from '../../../../shared/observability/request-row.ts';
import { createRequestRowStore } from '../../../../shared/observability/request-row-store.ts';
import { createClocks, SupportPromise } from '../../../../shared/tickets/clocks.ts';
import { createTicketStore } from '../../../../shared/tickets/ticket-store.ts';
import { eventOf } from '../../../support/emulators/api-event.ts';
import { startTestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { catalogueOf } from '../../../support/fixtures/deployment-catalogue.ts';
import { deploymentsOf } from '../../../support/fixtures/deployments.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';
import { fullEvent } from '../observability/requests/request-fixtures.ts';
import { startTicketBucket } from './ticket-bucket.ts';

/** A request to a route of tickets. */
export interface Sent {
  as: Actor;
  id?: string | undefined;
  attachment?: string;
  body?: object;
  query?: Record<string, string | string[]>;
  headers?: Record<string, string>;
  atMs?: number;
}

/** A reply of a route; an error has its code in `code`. */
export interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect
  body: any;
  code?: string | null;
  param?: string | null;
}

/** The routes of tickets over the emulator, with organizations and users. */
export const startTicketDesk = async (promise: object = {}) => {
  const emulator = await startTestDatabase();
  const { database, tables } = emulator;
  const bucket = await startTicketBucket();
  const stores = accountStores(emulator);
  const table = (name: string) => createRecordTable(database, tables[name] as string);
  const outbox = createOutbox(table('Notifications'));
  const requestRows = createRequestRowStore(database, tables.Observability as string);
  const clocks = createClocks(SupportPromise.parse(promise));
  const deps = {
    ...stores,
    tickets: createTicketStore(database, tables.Tickets as string, table('Tickets')),
    attachments: createAttachmentStore(table('Tickets')),
    ticketFiles: bucket.files,
    clocks,
    outbox,
    usage: emulator.usage,
    models: emulator.models,
    requestRows,
    deployments: deploymentsOf(emulator),
    catalogue: catalogueOf(emulator),
    startTimes: createStartTimesStore(database, table('Deployments')),
    invoices: createInvoiceStore(table('Billing')),
  };
  const admin = await storeUser(stores, { role: 'admin', organization: null });

  return {
    emulator,
    bucket,
    deps,
    admin,
    newOrganization: async (name = 'Acme'): Promise<string> => (await createOrganization(stores, admin.origin, { name })).id,
    newUser: (role: UserRole, organization: string | null): Promise<Actor> => storeUser(stores, { role, organization }),

    /** Sends a request through the route with this operation id. */
    send: async (operationId: string, { as, id, attachment, body, query, headers = {}, atMs = as.origin.nowMs }: Sent): Promise<Reply> => {
      const route = ticketRoutes.find((each) => each.operationId === operationId);
      if (!route) throw new Error(`There is no ${operationId}.`);
      const many = Object.fromEntries(Object.entries(query ?? {}).map(([name, value]) => [name, [value].flat()]));
      const request = {
        ...eventOf(route.path, { method: route.method, headers }),
        requestContext: {},
        pathParameters: id === undefined ? null : { id, ...(attachment !== undefined && { attachment }) },
        multiValueQueryStringParameters: query ? many : null,
        queryStringParameters: query ? Object.fromEntries(Object.entries(many).map(([name, values]) => [name, values.at(-1)])) : null,
        body: body ? JSON.stringify(body) : null,
      };
      const actor = { ...as, origin: { ...as.origin, nowMs: atMs } };
      try {
        const reply = await route.handle({ ...deps, authenticate: async () => ({ actor }) as SignedInUser }, request as never);
        return { status: reply.statusCode, body: JSON.parse(reply.body) };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { status: error.status, code: error.code, param: error.param, body: { message: error.message } };
      }
    },

    /**
     * A request of an API key of this user that failed, as the request path and the function `rollup` leave it.
     * @returns its id
     */
    failedRequest: async (as: Actor, fields: Parameters<typeof fullEvent>[2] = {}): Promise<string> => {
      const { id: key } = await createApiKey(stores, as, NewApiKey.parse({ name: 'key' }));
      const failed = {
        outcome: 'upstream_failed',
        error_status: 503,
        error_code: 'upstream_error',
        error_message: 'The model failed.',
      } as const;
      const event = fullEvent(as.organization as string, key, { ...failed, ...fields });
      await emulator.usage.putIfAbsent(event, Number((await emulator.limiters.get(key))?.shards ?? 1));
      const row = requestRowOf(event);
      if (row) await requestRows.put(row);
      return event.request_id;
    },

    /** The notifications of an organization, oldest first. */
    notifications: async (organization: string) => {
      const rows = await Array.fromAsync(table('Notifications').all({ account: organization, prefix: OUTBOX_PREFIX }));
      return rows.map(readOutboxEntry).flatMap((entry) => (entry.kind === 'notification' ? [entry.notification] : []));
    },

    close: async (): Promise<void> => {
      await bucket.close();
      await emulator.close();
    },
  };
};

export type TicketDesk = Awaited<ReturnType<typeof startTicketDesk>>;
