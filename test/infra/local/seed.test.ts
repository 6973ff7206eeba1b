import path from 'node:path';
import { AdminDeleteUserCommand } from '@aws-sdk/client-cognito-identity-provider';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Demo } from '../../../infra/local/demo-file.ts';
import { openLocalDatabase } from '../../../infra/local/dynamodb/open-database.ts';
import { type LocalRun, startLocal } from '../../../infra/local/run.ts';
import { seedDemo } from '../../../infra/local/seed.ts';
import { parseSecret } from '../../../shared/admission/item/secret.ts';
import { createLimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import type { SdkDatabase } from '../../../shared/database/sdk-database.ts';
import { createUserPoolClient } from '../../../shared/identity/user-pool.ts';
import { createModelStore, type ModelStore } from '../../../shared/models/model-store.ts';
import { assemblyDir } from '../../support/assembly/assembly.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
let run: LocalRun;
let database: SdkDatabase;
let models: ModelStore;
let demo: Demo;

beforeAll(async () => {
  run = await startLocal({
    assemblyDir: assemblyDir(),
    stateDir: path.join(folder.path, 'state'),
    ephemeral: true,
    port: 0,
    environments: undefined,
    stopOnDisconnect: false,
    tokenDelayMs: 0,
    quiet: true,
  });
  database = openLocalDatabase(run.dynamodbEndpoint);
  models = createModelStore(database, run.tables.Models as string);
  demo = await seedDemo(run, undefined);
});
afterAll(async () => {
  database.destroy();
  await run.close();
  await folder[Symbol.asyncDispose]();
});

test('creates a deployment of the demo organization and a key for the on-demand host', async () => {
  const [name, ...others] = (await models.list('org_demo')).keys();
  expect([name, others]).toEqual([demo.ondemand_model, []]);
  const key = parseSecret(demo.ondemand_api_key);
  expect(key?.scope).toBe('on_demand');
  const limiters = createLimiterStore(database, run.tables.Keys as string);
  expect(await limiters.get(key?.keyId as string)).toMatchObject({ org: 'org_demo', scope: 'on_demand' });
  expect(parseSecret(demo.api_key)?.scope).toBe('serverless');
});

test('the deployment responds on the on-demand host', async () => {
  const response = await fetch(`${run.hosts.ondemand}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${demo.ondemand_api_key}`,
      'content-type': 'application/json',
      'x-user-id': '7f0c3e9a-7b0f-4c34-9f53-2b1c4d9c2a10',
    },
    body: JSON.stringify({ model: demo.ondemand_model, max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ model: demo.ondemand_model })]);
});

test('a key of the other host is rejected with the URL of its host', async () => {
  const ask = (host: string | null, key: string): Promise<Response> =>
    fetch(`${host}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-user-id': '7f0c3e9a-7b0f-4c34-9f53-2b1c4d9c2a10' },
      body: JSON.stringify({ model: demo.model, messages: [{ role: 'user', content: 'Hello' }] }),
    });
  const { serverless, ondemand } = run.hosts;
  const atOndemand = await ask(ondemand, demo.api_key);
  expect([atOndemand.status, await atOndemand.text()]).toEqual([401, expect.stringContaining(serverless)]);
  const atServerless = await ask(serverless, demo.ondemand_api_key);
  expect([atServerless.status, await atServerless.text()]).toEqual([401, expect.stringContaining(ondemand as string)]);
});

test('the next start keeps valid keys and changed prices, and replaces invalid keys', async () => {
  const deployment = await models.get('org_demo', demo.ondemand_model);
  const [price] = deployment?.prices ?? [];
  if (!deployment || !price) throw new Error('The deployment does not exist.');
  const raised = { ...price, version: 'price_demo_2', effective_at: 1 };
  await models.put('org_demo', { ...deployment, prices: [price, raised] });
  expect(await seedDemo(run, demo)).toEqual(demo);
  expect((await models.get('org_demo', demo.ondemand_model))?.prices).toEqual([price, raised]);
  const gone = await seedDemo(run, { ...demo, ondemand_api_key: 'sk-o' });
  expect(gone.api_key).toBe(demo.api_key);
  expect(parseSecret(gone.ondemand_api_key)?.scope).toBe('on_demand');
});

test("a foreign container serves the deployment under the container's name for its model", async () => {
  await seedDemo(run, demo, 'foreign-model');
  expect(await models.get('org_demo', demo.ondemand_model)).toMatchObject({
    status: 'published',
    dialect: 'vllm',
    targets: [{ endpoint: 'sluice-tiny', container_model: 'foreign-model' }],
  });
});

test('the admin is kept, or recreated if missing from the user pool', async () => {
  const canLogIn = async ({ admin_email, admin_password }: Demo): Promise<number> =>
    (
      await fetch(`${run.hosts.control}/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: admin_email, password: admin_password }),
      })
    ).status;
  expect(await seedDemo(run, demo)).toMatchObject({ admin_password: demo.admin_password });
  expect(await canLogIn(demo)).toBe(200);
  const { id: poolId = '' } = run.userPools.Users ?? {};
  const client = createUserPoolClient({
    endpoint: run.cognitoUrl as string,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await client.send(new AdminDeleteUserCommand({ UserPoolId: poolId, Username: demo.admin_email }));
  client.destroy();
  const again = await seedDemo(run, demo);
  expect(again.admin_password).not.toBe(demo.admin_password);
  expect(await canLogIn(again)).toBe(200);
});
