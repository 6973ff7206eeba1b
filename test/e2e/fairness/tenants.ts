import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { ReservedConcurrency } from '../../../infra/config/config.ts';
import { organizationConcurrencyOf } from '../../../infra/config/shares.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { HOUR_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { isolatedAssembly } from '../../support/assembly/isolated-assembly.ts';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { sized } from '../../support/sized.ts';

/**
 * Environments of each inference function: few enough that an attacker could hold them all, and enough that a share of
 * them is more than one. Each one is a process to start, so the small size has fewer.
 */
export const INFERENCE = sized(10, 24);
const RESERVED = { inference: INFERENCE, 'ondemand-inference': INFERENCE, tokenizer: 8, control: 5, 'sign-in': 4 };
const ENVIRONMENTS = Math.max(...Object.values(RESERVED));
// More than the neighbour sends in all, so that its own limits reject nothing when the machine is busy.
const STEADY_A_MINUTE = 6_000;
/** The requests in flight that an organization without limits of its own can have. */
export const SHARE = organizationConcurrencyOf({ reservedConcurrency: ReservedConcurrency.parse(RESERVED), deployments: {} });
const STEADY_AT_ONCE = INFERENCE - SHARE;
// The next wake is predicted from fast ones; the attacker's requests then wait for a slow one.
const FAST_WAKES = { instance_ms: 500, download_ms: 200, load_ms: 200, release_ms: 200 };
const SLOW_WAKE = { ...FAST_WAKES, instance_ms: 60 * SECOND_MS };
const RUNTIME = 'vllm-0.27.1';

/** An organization that uses every host. */
export interface Tenant {
  organization: string;
  owner: SignedIn;
  members: readonly SignedIn[];
  serverlessKeys: readonly string[];
  ondemandKey: string;
}

export interface Tenants {
  run: TestRun;
  control: Control;
  attacker: Tenant;
  neighbour: Tenant;
  /** Deployments of the attacker that are asleep, and wake more slowly than ever before. */
  sleeping: readonly string[];
  close: () => Promise<void>;
}

const createKey = async (control: Control, { token }: SignedIn, fields: object): Promise<string> => {
  const { secret } = await control.done('POST', '/v1/api-keys', { token, body: { name: 'traffic', ...fields } });
  return secret;
};

const createTenant = async (run: TestRun, control: Control, members: number, keys: number, limits: object = {}): Promise<Tenant> => {
  const { id: organization } = await control.createOrganization();
  const owner = await control.createUser({ role: 'owner', organization });
  const team: SignedIn[] = [];
  for (let number = 0; number < members; number++) team.push(await control.createUser({ role: 'member', organization }));
  const serverlessKeys: string[] = [];
  for (let number = 0; number < keys; number++) serverlessKeys.push(await createKey(control, owner, { scope: 'serverless', limits }));
  for (const model of (await run.models.list(SERVERLESS_POOL)).values()) await run.models.put(organization, model);
  return {
    organization,
    owner,
    members: team,
    serverlessKeys,
    ondemandKey: await createKey(control, owner, { scope: 'on_demand', limits }),
  };
};

// Returns the names of the deployments once they have fallen asleep.
const createSleeping = async (run: TestRun, control: Control, { organization, owner }: Tenant, names: readonly string[]) => {
  const setTimes = (times: object) => fetch(`${run.sagemaker_url}/control/deployments`, { method: 'PUT', body: JSON.stringify({ times }) });
  await setTimes(FAST_WAKES);
  const { token } = await control.asAdmin();
  await control.done('POST', '/v1/instance-types/ml.g5.xlarge/prices', { token, body: { per_hour: '1.41' } });
  const s3 = new S3Client({
    region: 'us-east-1',
    endpoint: run.s3_endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await s3.send(new PutObjectCommand({ Bucket: run.buckets.Weights, Key: `${organization}/tiny/config.json`, Body: '{}' }));
  s3.destroy();
  const store = createDeploymentStore(createRecordTable(run.database, run.tables.Deployments as string));
  const find = async (id: string): Promise<Deployment> => (await store.find(id)) as Deployment;
  const isIn = (id: string, state: Deployment['state']) => async (): Promise<boolean> => (await find(id)).state === state;
  const fallAsleep = async (name: string): Promise<void> => {
    const model = `s3://${run.buckets.Weights}/${organization}/tiny/`;
    const body = { name, model, runtime: RUNTIME, instance_types: ['ml.g5.xlarge'], scale_to_zero_after_seconds: 60 };
    const { id } = await control.done('POST', '/v1/deployments', { token: owner.token, body });
    await eventually(isIn(id, 'in_service'), `${name} is in service`);
    // Nobody has used it for an hour.
    await eventually(async () => {
      const write = store.toReplace({ ...(await find(id)), last_used_at: Date.now() - HOUR_MS });
      return transact(run.database, [write]).then(
        () => true,
        () => false,
      );
    }, `${name} looks unused`);
    await eventually(isIn(id, 'scaled_to_zero'), `${name} is asleep`);
  };
  await Promise.all(names.map(fallAsleep));
  await setTimes(SLOW_WAKE);
  return names;
};

/** A local run with few environments, an organization that attacks, and one that does not. */
export const startTenants = async (): Promise<Tenants> => {
  const reservedConcurrency = ReservedConcurrency.parse(RESERVED);
  const run = await startTestRun(
    ...['--assembly', await isolatedAssembly({ sluice: { reservedConcurrency } })],
    ...['--environments', String(ENVIRONMENTS)],
    ...['--queue-delay-ms', '1000', '--batch-window-ms', '1000', '--schedule-ms', '20000'],
  );
  const control = controlOf(run);
  const attacker = await createTenant(run, control, 3, 4);
  const neighbour = await createTenant(run, control, 1, 1, { requests_per_minute: STEADY_A_MINUTE });
  const { token } = await control.asAdmin();
  await control.done('PUT', `/v1/organizations/${neighbour.organization}/limits`, { token, body: { concurrency: STEADY_AT_ONCE } });
  const sleeping = await createSleeping(run, control, attacker, ['first', 'second', 'third', 'fourth']);
  return { run, control, attacker, neighbour, sleeping, close: async () => void (await run.close()) };
};
