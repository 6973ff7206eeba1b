import type { Actor } from '../../functions/control/access/actor.ts';
import { type CreateDependencies, createDeployment } from '../../functions/control/deployments/create-deployment.ts';
import type { DeploymentResource } from '../../functions/control/deployments/deployment-resource.ts';
import { NewDeployment } from '../../functions/control/deployments/new-deployment.ts';
import type { PublishDependencies } from '../../functions/control/deployments/publish-deployment.ts';
import { addInstancePrice } from '../../functions/control/instance-types/manage-instance-types.ts';
import { createOrganization } from '../../functions/control/organizations/create-organization.ts';
import { setSuspended } from '../../functions/control/organizations/update-organization.ts';
import { updateUser } from '../../functions/control/users/update-user.ts';
import type { Database } from '../../shared/database/database.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import { transact } from '../../shared/database/transaction.ts';
import type { Deployment } from '../../shared/deployments/deployment.ts';
import { createDeploymentStore } from '../../shared/deployments/deployment-store.ts';
import type { DeploymentFindings, DeploymentToValidate } from '../../shared/deployments/validation.ts';
import { createHoldStartCredit } from '../../shared/gpu-time/start-credit.ts';
import type { Tokenizer } from '../../shared/tokens/tokenizer.ts';
import { accountStores } from './account-stores.ts';
import type { TestDatabase } from './database.ts';
import { catalogueOf } from './deployment-catalogue.ts';
import { NOW_SECONDS, reportOf } from './managed-models.ts';
import { acceptingUserPool, ISSUER, storeUser } from './stored-users.ts';

export const NOW_MS = NOW_SECONDS * 1_000;
const WEIGHTS_BUCKET = 'weights';

/** Weights that can be used, and no known quota. */
const PASSED: DeploymentFindings = { weights: { passed: true, message: 'Found.' }, quotas: [] };

type Counted = Parameters<Tokenizer['fit']>[0];
type CountPrompt = () => ReturnType<Tokenizer['fit']>;
const COUNTS: CountPrompt = async () => ({ prompt_tokens: 7, kept: null });

/** The control plane's deployments in real tables, with a test-defined function `deployments`. */
export const manageDeployments = async (emulator: TestDatabase) => {
  const stores = accountStores(emulator);
  const admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW_MS });
  const catalogue = catalogueOf(emulator);
  const asked: DeploymentToValidate[] = [];
  const reconciled: string[] = [];
  let findings = PASSED;
  let checksPass = true;
  let reconcileFails = false;
  let startSeconds: number[] = [];
  const counted: Counted[] = [];
  let countPrompt: CountPrompt = COUNTS;

  const depsOver = (database: Database): CreateDependencies & PublishDependencies => ({
    ...accountStores(emulator, database),
    deployments: createDeploymentStore(createAccountTable(database, emulator.tables.Deployments as string)),
    models: emulator.models,
    catalogue,
    holdStartCredit: createHoldStartCredit(database, emulator.tables.Keys as string, catalogue),
    startTimes: { secondsOf: async () => startSeconds },
    modelSources: { weightsBucket: WEIGHTS_BUCKET, hubModels: false },
    region: 'us-east-1',
    validate: async (question) => {
      asked.push(question);
      return findings;
    },
    reconcile: async (id) => {
      if (reconcileFails) throw new Error('Lambda is away.');
      reconciled.push(id);
    },
    checkModel: async () => reportOf(checksPass),
    tokenizer: {
      fit: async (question) => {
        counted.push(question);
        return countPrompt();
      },
    },
  });
  const deps = depsOver(emulator.database);
  for (const [type, per_hour] of [
    ['ml.g5.xlarge', '1.41'],
    ['ml.g6.xlarge', '1'],
    ['ml.g5.12xlarge', '7'],
  ] as const)
    await addInstancePrice({ ...deps, catalogue }, admin, type, { per_hour });

  /** A body as an owner sends it. */
  const bodyOf = ({ organization }: Actor, fields: object = {}): NewDeployment =>
    NewDeployment.parse({
      name: 'qwen',
      model: `s3://${WEIGHTS_BUCKET}/${organization}/qwen/`,
      runtime: 'vllm-0.27.1',
      instance_types: ['ml.g5.xlarge'],
      ...fields,
    });

  const create = async (actor: Actor, fields: object = {}, key?: string): Promise<DeploymentResource> => {
    const { deployment } = await createDeployment(deps, actor, bodyOf(actor, fields), key);
    if (!deployment) throw new Error('Nothing was created.');
    return deployment;
  };

  return {
    deps,
    /** The same dependencies over another database. */
    depsOver,
    admin,
    catalogue,
    /** What the function `deployments` was asked to validate. */
    asked,
    /** The deployments that it was asked to look at. */
    reconciled,
    bodyOf,
    create,
    setFindings: (other: Partial<DeploymentFindings>): void => {
      findings = { ...PASSED, ...other };
    },
    /** What the function `tokenizer` was asked to count. */
    counted,
    setCount: (other: CountPrompt): void => {
      countPrompt = other;
    },
    setChecksPass: (pass: boolean): void => {
      checksPass = pass;
    },
    setReconcileFails: (fails: boolean): void => {
      reconcileFails = fails;
    },
    setStartSeconds: (seconds: number[]): void => {
      startSeconds = seconds;
    },
    reset: (): void => {
      findings = PASSED;
      checksPass = true;
      reconcileFails = false;
      startSeconds = [];
      countPrompt = COUNTS;
      counted.length = 0;
      asked.length = 0;
      reconciled.length = 0;
    },
    /** A new organization with an owner and a member. */
    newTenant: async (): Promise<{ organization: string; owner: Actor; member: Actor }> => {
      const { id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' });
      const owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW_MS });
      const member = await storeUser(stores, { role: 'member', organization, nowMs: NOW_MS });
      return { organization, owner, member };
    },
    suspend: async (organization: string): Promise<void> => {
      await setSuspended(stores, admin.origin, organization, { isSuspended: true, reason: 'test' });
    },
    demote: async ({ userId }: Actor): Promise<void> => {
      const users = { ...stores, userPool: acceptingUserPool, issuer: ISSUER, now: Date.now };
      await updateUser(users, admin, userId, { role: 'member' });
    },
    stored: async (id: string): Promise<Deployment> => (await deps.deployments.find(id)) as Deployment,
    /** Changes a deployment's row as the function `deployments` does. */
    observe: async (id: string, change: (before: Deployment) => Deployment): Promise<Deployment> => {
      const before = (await deps.deployments.find(id)) as Deployment;
      const after = change(before);
      await transact(emulator.database, [deps.deployments.toReplace(after)]);
      return { ...after, version: after.version + 1 };
    },
    /** An organization's audit entries about a target, newest first. */
    log: async (organization: string, target: string) => {
      const { data } = await deps.audit.list(organization, { limit: 100 });
      return data.filter(({ target: { id } }) => id === target);
    },
  };
};

export type ManagedDeployments = Awaited<ReturnType<typeof manageDeployments>>;
