import { EMBEDDING_MODEL, RERANK_MODEL } from '../../../infra/local/container.ts';
import { inferenceHostRoutes } from '../../../shared/hosts/inference-routes.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import type { Control } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { stoppedWithAdapter } from '../../support/fixtures/adapters/stopped-with-adapter.ts';
import { storeInvoice } from '../../support/fixtures/invoices.ts';
import { storeIdentityProvider } from '../../support/fixtures/scim/store-identity-provider.ts';
import type { Caller, FuzzedDocument, FuzzedHost } from './requests.ts';

/** Everything that belongs to the other organization has it in a name or a text. */
export const CANARY = 'canary-of-another-organization';
const FORGED = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.';
const USER_ID = '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11';
const NANOS_PER_DOLLAR = 1_000_000_000n;
const BUDGET_NANOS = 1_000_000n * NANOS_PER_DOLLAR;
// The requests are paid by this organization, which has deployments.
const ORGANIZATION = 'org_test';
const UNLISTED = ['none', 'req_none', 'sluice-tiny'];

const { createEmbeddings, createRerank, createRerankV2 } = inferenceHostRoutes;
const RERANKERS = { model: [RERANK_MODEL] };
const MODELS_OF_PATHS = {
  [createEmbeddings.path]: { model: [EMBEDDING_MODEL] },
  [createRerank.path]: RERANKERS,
  [createRerankV2.path]: RERANKERS,
};

/** The hosts as they are fuzzed, and what must hold afterwards. */
export interface FuzzedHosts {
  hosts: Record<'serverless' | 'on-demand' | 'control', FuzzedHost & { baseUrl: string }>;
  /** The keys that pay for requests. */
  keyIds: readonly string[];
  /** The callers who may see the other organization's data. */
  entitled: ReadonlySet<string>;
}

const bearer = (name: string, token: string, headers: Record<string, string> = {}): Caller => ({
  name,
  headers: { authorization: `Bearer ${token}`, ...headers },
});

// As clients of the Messages API send a key.
const keyOf = (name: string, secret: string, headers: Record<string, string> = {}): Caller => ({
  name,
  headers: { 'x-api-key': secret, 'anthropic-version': '2023-06-01', ...headers },
});

const STRANGERS: readonly Caller[] = [{ name: 'nobody', headers: {} }, bearer('forger', FORGED), keyOf('forger', FORGED)];

const documentOf = async (baseUrl: string): Promise<FuzzedDocument> =>
  (await (await fetch(`${baseUrl}/openapi.json`)).json()) as FuzzedDocument;

/**
 * Creates organizations, people, keys and resources that the requests may change and delete, and callers who own them.
 * @param control the same one for all fixtures of a run
 */
export const createFixtures = async (run: TestRun, control: Control): Promise<FuzzedHosts> => {
  for (const model of (await run.models.list(SERVERLESS_POOL)).values()) await run.models.put(ORGANIZATION, model);
  const inference = await inferenceCallers(run);
  const managed = await createControlFixtures(run, control);
  const host = async (
    baseUrl: string,
    { callers, strangers }: Pick<FuzzedHost, 'callers' | 'strangers'>,
    fixtures: Pick<FuzzedHost, 'ids' | 'known' | 'knownIn'>,
  ) => ({
    document: await documentOf(baseUrl),
    callers,
    strangers,
    baseUrl,
    ...fixtures,
  });
  const models = {
    ids: { '/v1/models/': [run.model], '/v1/responses/': inference.responses },
    known: { model: [run.model] },
    knownIn: MODELS_OF_PATHS,
  };
  const { ondemand_url, control_url } = run;
  return {
    hosts: {
      serverless: await host(run.base_url, inference.serverless, models),
      'on-demand': await host(ondemand_url as string, inference.onDemand, models),
      control: await host(control_url as string, { callers: managed.callers, strangers: STRANGERS }, managed),
    },
    keyIds: inference.keyIds,
    entitled: new Set(['other owner', 'admin', 'support']),
  };
};

// A key reads stored responses ten times a second at most.
const KEYS = 8;
type TestSecret = Awaited<ReturnType<TestRun['createKey']>>;

const inferenceCallers = async (run: TestRun) => {
  const budgets = { day_budget_nanos: BUDGET_NANOS, total_budget_nanos: BUDGET_NANOS };
  const many = (scope: 'serverless' | 'on_demand') => Promise.all(Array.from({ length: KEYS }, () => run.createKey({ ...budgets, scope })));
  const [keys, onDemandKeys] = [await many('serverless'), await many('on_demand')];
  const [key, onDemand] = [keys[0] as TestSecret, onDemandKeys[0] as TestSecret];
  const narrow = await run.createKey({ ...budgets, requests_per_minute: 5, tokens_per_minute: 2_000, concurrency: 1 });
  const expired = await run.createKey({ expires_at: 1 });
  const user = { 'x-user-id': USER_ID };
  return {
    serverless: {
      callers: [...keys.map(({ secret }) => bearer('key', secret)), keyOf('key', key.secret), bearer('narrow key', narrow.secret)],
      strangers: [...STRANGERS, bearer('expired', expired.secret), keyOf('on-demand', onDemand.secret)],
    },
    onDemand: {
      callers: [...onDemandKeys.map(({ secret }) => bearer('key', secret, user)), keyOf('key', onDemand.secret, user)],
      strangers: [...STRANGERS, bearer('key without user', onDemand.secret), bearer('serverless', key.secret, user)],
    },
    keyIds: [...keys, narrow, ...onDemandKeys].map(({ key_id }) => key_id),
    responses: [await createResponse(run, key.secret)],
  };
};

const createResponse = async ({ base_url, model }: TestRun, secret: string): Promise<string> => {
  const reply = await fetch(`${base_url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'Hello', max_output_tokens: 16 }),
  });
  return ((await reply.json()) as { id: string }).id;
};

type Create = (path: string, token: string, body: unknown) => Promise<string>;

const identitiesOf = async (create: Create, token: string, name: string) => {
  const serviceAccount = await create('/v1/service-accounts', token, { name });
  const program = `/v1/service-accounts/${serviceAccount}`;
  const rule = { issuer: `https://${name}.example.com`, audience: name, claims: { team: name } };
  return {
    serviceAccount,
    secret: await create(`${program}/secrets`, token, {}),
    rule: await create(`${program}/federation-rules`, token, rule),
  };
};

const createControlFixtures = async (run: TestRun, control: Control) => {
  const create = async (path: string, token: string, body: unknown): Promise<string> =>
    (await control.done('POST', path, { token, body })).id;
  const { id: organization } = await control.createOrganization('Fuzzed');
  const [owner, member] = [
    await control.createUser({ role: 'owner', organization }),
    await control.createUser({ role: 'member', organization }),
  ];
  const { id: otherId } = await control.createOrganization(CANARY);
  const other = await control.createUser({ role: 'owner', organization: otherId });
  const support = await control.createUser({ role: 'support' });
  // A request can end its caller's sessions, and the next round needs that of the run's own admin.
  const admin = await control.createUser({ role: 'admin' });
  const ofOrganization = async (token: string, name: string) => ({
    key: await create('/v1/api-keys', token, { name }),
    webhook: await create('/v1/webhooks', token, { url: `https://example.com/${name}` }),
    project: await create('/v1/projects', token, { name }),
    ticket: await create('/v1/tickets', token, { subject: name, body: name }),
    ...(await identitiesOf(create, token, name)),
    export: await create('/v1/billing/exports', token, { format: 'jsonl', start_time: 1_795_219_200, end_time: 1_795_305_600 }),
  });
  for (const [{ token }, alias] of [
    [owner, 'own-alias'],
    [other, CANARY],
  ] as const)
    await control.done('PUT', `/v1/model-aliases/${alias}`, { token, body: { model: run.model } });
  const [own, others] = [await ofOrganization(owner.token, 'fuzzed'), await ofOrganization(other.token, CANARY)];
  // Users and organizations that can be disabled or suspended without an end of the callers' sessions.
  const { id: spareId } = await control.createOrganization('Spare');
  const [spare, spareOwner] = [
    await control.createUser({ role: 'member', organization }),
    await control.createUser({ role: 'owner', organization: spareId }),
  ];
  const [deployment, othersDeployment] = [
    await stoppedWithAdapter(run, organization, 'fuzzed'),
    await stoppedWithAdapter(run, otherId, CANARY),
  ];
  const { invoiceId, creditNoteId } = await storeInvoice(run, organization);
  const providerOf = (of: string, name: string) => storeIdentityProvider(run, { organization: of, name, domain: `${name}.example` });
  const [ownProvider, othersProvider] = [await providerOf(organization, 'fuzzed'), await providerOf(otherId, CANARY)];
  return {
    callers: [
      ...[bearer('member', member.token), bearer('owner', owner.token), bearer('owner', owner.token), bearer('other owner', other.token)],
      ...[bearer('support', support.token), bearer('admin', admin.token), bearer('admin', admin.token)],
    ],
    ids: {
      '/v1/organizations/': [spareId, spareId, spareId, organization],
      '/v1/users/': [spare.id, spareOwner.id],
      '/v1/api-keys/': [own.key, others.key],
      '/v1/webhooks/': [own.webhook, others.webhook],
      '/v1/projects/': [own.project, others.project],
      '/v1/identity-providers/': [ownProvider.id, othersProvider.id],
      '/v1/service-accounts/': [own.serviceAccount, others.serviceAccount],
      '/v1/tickets/': [own.ticket, others.ticket],
      '/v1/billing/exports/': [own.export, others.export],
      '/v1/deployments/': [deployment.id, deployment.id, othersDeployment.id],
      '/v1/billing/invoices/': [invoiceId],
      '/v1/billing/credit-notes/': [creditNoteId],
      '/v1/runtimes/': ['vllm-0.27.1'],
      '/v1/instance-types/': ['ml.g5.xlarge'],
      '/v1/models/': UNLISTED,
      '/v1/model-aliases/': ['own-alias'],
      '/v1/billing/rerates/': UNLISTED,
      '/v1/observability/requests/': UNLISTED,
    },
    known: {
      organization: [organization, organization, otherId],
      organization_id: [organization, otherId],
      rule: [own.rule, others.rule],
      secret: [own.secret, others.secret],
      adapter: [deployment.adapter, othersDeployment.adapter],
    },
    knownIn: {},
  };
};
