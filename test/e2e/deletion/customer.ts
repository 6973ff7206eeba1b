import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createIdentityLinks } from '../../../shared/single-sign-on/identity-links.ts';
import { createIdentityProviderEvents } from '../../../shared/single-sign-on/identity-provider-events.ts';
import { DAY_SECONDS } from '../../../shared/time/units.ts';
import { identityProviderEvent } from '../../shared/single-sign-on/identity-provider-events.ts';
import type { Control } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { storeIdentityProvider } from '../../support/fixtures/scim/store-identity-provider.ts';

const POLL_MS = 1_000;

/** Where tests send webhooks. */
export const startReceiver = async () => {
  const server = createServer((_, response) => void response.writeHead(204).end());
  await listen(server, 0);
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
};

/** An organization with data of every kind. */
export interface Customer {
  organization: string;
  key: string;
  secret: string;
  email: string;
  password: string;
  token: string;
  events: number;
  /** The partitions of its identities in the table `Accounts`; the person's is the first. */
  partitions: readonly string[];
}

/**
 * Creates an organization with data of every kind. Whatever it or its people named, wrote or sent contains `canary`.
 * @param port of the receiver of webhooks
 */
export const createCustomer = async (run: TestRun, control: Control, s3: S3Client, canary: string, port: number): Promise<Customer> => {
  const { done } = control;
  const admin = (await control.asAdmin()).token;
  const { id: organization } = await control.createOrganization(`${canary} Ltd`);
  const email = `${canary}@example.com`;
  const temporary = 'Temporary-Password-1';
  const password = 'A-Password-of-my-own-2';
  await done('POST', '/v1/users', {
    token: admin,
    body: { email, name: canary, role: 'owner', organization, temporary_password: temporary },
  });
  const { session } = await done('POST', '/v1/auth/login', { body: { email, password: temporary } });
  const {
    access_token: token,
    user: { id: user },
  } = await done('POST', '/v1/auth/challenge', { body: { email, session, new_password: password } });

  await done('PUT', '/v1/observability/payload-log', { token, body: { enabled: true } });
  const body = { name: `${canary} key`, metadata: { team: canary } };
  const { id: key, secret } = await done('POST', '/v1/api-keys', { token, body });
  const { id: webhook } = await done('POST', '/v1/webhooks', { token, body: { url: `http://127.0.0.1:${port}/${canary}` } });
  await done('POST', `/v1/webhooks/${webhook}/test`, { token });
  await done('PUT', `/v1/model-aliases/${canary}`, { token, body: { model: run.model } });
  await done('POST', '/v1/projects', { token, body: { name: canary } });
  await done('POST', '/v1/tickets', { token, body: { subject: canary, body: `I am ${canary}.` } });
  await done('PATCH', '/v1/billing/profile', { token, body: { emails: [email] } });

  const program = { name: canary, description: `For ${canary}`, role: 'viewer' };
  const { id: serviceAccount } = await done('POST', '/v1/service-accounts', { token, body: program });
  await done('POST', `/v1/service-accounts/${serviceAccount}/secrets`, { token, body: {} });
  const provider = await storeIdentityProvider(run, { organization, name: canary, domain: `${canary}.example` });
  const accounts = createRecordTable(run.database, run.tables.Accounts as string);
  await transact(run.database, createIdentityLinks(accounts).toLink(user, provider.id, canary));
  const logins = createIdentityProviderEvents(run.database, run.tables.Accounts as string, accounts);
  await logins.add(provider.id, identityProviderEvent({ user, email }));
  await done('POST', `/v1/identity-providers/${provider.id}/scim-tokens`, { token, body: {} });
  const partitions = [user, serviceAccount, provider.id, `identity#${provider.id}`, `domain#${canary}.example`];

  const send = async (path: string, fields: object, headers: Record<string, string> = {}, expected = 200): Promise<void> => {
    const response = await fetch(`${run.base_url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: run.model, user: canary, metadata: { who: canary }, ...fields }),
    });
    const text = await response.text();
    if (response.status !== expected) throw new Error(`${path}: ${response.status} ${text}`);
  };
  const messages = [{ role: 'user', content: `Hello, I am ${canary}.` }];
  await send('/v1/chat/completions', { messages, max_tokens: 3 });
  await send('/v1/chat/completions', { messages, max_tokens: 4, stream: true });
  await send('/v1/chat/completions', { messages, max_tokens: 5 }, { 'idempotency-key': canary });
  await send('/v1/responses', { input: `Hello, I am ${canary}.`, max_output_tokens: 16 });
  await send('/v1/chat/completions', { messages, model: `no-model-of-${canary}` }, {}, 404);
  const events = 4;
  await eventually(async () => (await run.eventsOf(key)).length === events, 'all requests are settled');

  const nowSeconds = Math.floor(Date.now() / 1_000);
  const times = { start_time: nowSeconds - DAY_SECONDS, end_time: nowSeconds + 60 };
  const { id: exported } = await done('POST', '/v1/billing/exports', { token, body: { format: 'csv', ...times } });
  const stateOf = async () => (await done('GET', `/v1/billing/exports/${exported}`, { token })).state;
  await eventually(async () => (await stateOf()) === 'completed', 'the export is complete');
  const isDelivered = async (): Promise<boolean> => {
    const { data } = await done('GET', `/v1/webhooks/${webhook}/deliveries`, { token });
    const isExport = ({ type }: { type: string }): boolean => type === 'sluice.export.completed.v1';
    return data.some(isExport) && data.every(({ state }: { state: string }) => state === 'delivered');
  };
  // A user can list deliveries 60 times a minute.
  await eventually(async () => (await isDelivered()) || delay(POLL_MS, false), 'the export’s event, the last one, is delivered');

  const files = [
    [run.buckets.Weights, `${organization}/${canary}/config.json`],
    [run.buckets.Weights, `adapters/${organization}/dep_1/${canary}.tar.gz`],
    [run.buckets.TicketFiles, `kept/${organization}/tkt_1/att_1`],
    [run.buckets.TicketFiles, `pending/${organization}/tkt_1/att_2`],
  ] as const;
  for (const [Bucket, Key] of files) await s3.send(new PutObjectCommand({ Bucket, Key, Body: canary }));
  return { organization, key, secret, email, password, token, events, partitions };
};
