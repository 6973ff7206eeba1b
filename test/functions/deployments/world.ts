import { ApplicationAutoScalingClient } from '@aws-sdk/client-application-auto-scaling';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import type { AdapterFiles } from '../../../functions/deployments/adapters/adapter-files.ts';
import { createPackingShares } from '../../../functions/deployments/adapters/packing-shares.ts';
import { AdapterRefused } from '../../../functions/deployments/adapters/refused.ts';
import { createContainerLog } from '../../../functions/deployments/aws/container-log.ts';
import { createSageMaker } from '../../../functions/deployments/aws/sagemaker.ts';
import { createScaling } from '../../../functions/deployments/aws/scaling.ts';
import { createListTagged } from '../../../functions/deployments/aws/tagged-resources.ts';
import { type PassOutcome, type ReconcileDependencies, reconcile } from '../../../functions/deployments/reconcile/reconcile.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import type { AwsCaller } from '../../../shared/aws/caller.ts';
import { ReplyHead } from '../../../shared/aws/reply-reader.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { Adapter } from '../../../shared/deployments/adapter.ts';
import type { Deployment, RunningInstances, Start } from '../../../shared/deployments/deployment.ts';
import { createShadowStore } from '../../../shared/deployments/shadow-store.ts';
import { prefixes, RANDOM_CHARACTERS, TIME_CHARACTERS, timeOfId } from '../../../shared/ids/id.ts';
import { createOutbox } from '../../../shared/notifications/outbox.ts';
import type { Price } from '../../../shared/prices/price.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';
import { createControlPlane } from '../../support/emulators/sagemaker-control-plane.ts';
import { deploymentsOf, newDeployment } from '../../support/fixtures/deployments.ts';
import { newId } from '../../support/fixtures/new-id.ts';

const DELAY_MS = 15 * SECOND_MS;
// From their end.
const USAGE_LAG_MS = 90 * SECOND_MS;
const SCHEDULE_MS = 60 * SECOND_MS;

export const INSTALLATION = {
  name: 'sluice',
  endpointTag: 'sluice',
  executionRoleArn: 'arn:aws:iam::000000000000:role/execution',
  hubExecutionRoleArn: 'arn:aws:iam::000000000000:role/hub-execution',
  detailedMetrics: false,
  weightsBucket: 'sluice-weights',
};

/** A source whose files can't be used. */
export const UNUSABLE_SOURCE = 's3://sluice-weights/org_1/unusable/';

// The archives of a bucket: packing takes no time, and its files are the test's.
const createFiles = () => {
  const archives = new Set<string>();
  const changes = { count: 0 };
  const files: AdapterFiles = {
    pack: async (prefix, key) => {
      if (UNUSABLE_SOURCE.endsWith(`/${prefix}`)) throw new AdapterRefused('adapter_invalid', 'It can’t be used.');
      changes.count++;
      archives.add(key);
      return { rank: 8, bytes: 1_000 };
    },
    list: async (prefix) => [...archives].filter((key) => key.startsWith(prefix)),
    remove: async (key) => {
      changes.count++;
      archives.delete(key);
    },
  };
  return { files, archives, changes };
};

// Without random characters, so that a life can be lived again.
const adapterId = (nowMs: number, number: number): string =>
  prefixes.adapter + timeOfId(nowMs) + String(number).padStart(RANDOM_CHARACTERS - TIME_CHARACTERS, '0');

type PlaneOptions = NonNullable<Parameters<typeof createControlPlane>[0]>;

// The tags of the emulated account.
const taggingCaller = (call: (target: string, body: string) => { body: object }): Pick<AwsCaller, 'call'> => ({
  call: async ({ headers, body }, _, read) => {
    const target = headers.find(([name]) => name === 'x-amz-target')?.[1] ?? '';
    return read({ head: new ReplyHead(200, []), body: Buffer.from(JSON.stringify(call(target, String(body)).body)) });
  },
});

/**
 * A deployment of an organization of its own, an emulated AWS account on a virtual clock, and the passes of the
 * reconciler between them.
 */
export const createWorld = async (test: TestDatabase, fields: Partial<Deployment> = {}, options: PlaneOptions = {}) => {
  const plane = createControlPlane(options);
  // Signatures are not checked, and take a third of a call's time.
  const config = { ...plane.config, signer: { sign: async (request: never) => request } };
  const store = deploymentsOf(test);
  const { files, archives, changes } = createFiles();
  const created = newDeployment({ organization: newId('organization'), created_at: plane.now(), ...fields });
  await transact(test.database, store.toCreate(created));
  const use = { lastEventAtMs: undefined as number | undefined, isInUse: false };
  const meteredInstances: (readonly RunningInstances[])[] = [];
  /** The organizations whose alerts were evaluated. */
  const alerted: string[] = [];
  const surcharges: Price[] = [];
  let adaptersAdded = 0;
  const starts: { instanceType: string; start: Start }[] = [];
  /** When messages are due, by deduplication id. */
  const messages = new Map<number, number>();

  const dependencies: ReconcileDependencies = {
    database: test.database,
    deployments: store,
    models: test.models,
    audit: createAuditStore(createRecordTable(test.database, test.tables.Audit as string)),
    outbox: createOutbox(createRecordTable(test.database, test.tables.Notifications as string)),
    aws: {
      sageMaker: createSageMaker(new SageMakerClient(config)),
      scaling: createScaling(new ApplicationAutoScalingClient(config)),
      log: createContainerLog(new CloudWatchLogsClient(config)),
      listTagged: createListTagged(
        taggingCaller((target, body) => {
          const reply = plane.account.call(target, body);
          return reply.kind === 'reply' ? reply : { body: {} };
        }),
      ),
      files,
      installation: INSTALLATION,
      hasTime: () => true,
    },
    repeatForCredit: (attempt) => attempt(true),
    adapterPrices: async () => surcharges,
    evaluateAlerts: async (organization) => void alerted.push(organization),
    meterPass: async ({ deployment, running }) => {
      meteredInstances.push(running);
      return { meter: deployment.meter, writes: [] };
    },
    lastEventAt: async () => use.lastEventAtMs,
    usageLagMs: USAGE_LAG_MS,
    isInUse: async () => use.isInUse,
    isSuspended: async () => false,
    shadows: createShadowStore(test.database, test.tables.Deployments as string),
    packingShares: createPackingShares(createRecordTable(test.database, test.tables.Deployments as string), {
      now: plane.now,
      random: () => 0,
    }),
    holdStartCredit: async () => ({ writes: [] }),
    startSecondsOf: async () => [],
    recordStart: async (instanceType, start) => void starts.push({ instanceType, start }),
    reconciliations: {
      send: async (_, nowMs) => {
        const slot = Math.floor(nowMs / DELAY_MS);
        if (!messages.has(slot)) messages.set(slot, nowMs + DELAY_MS);
      },
    },
    now: plane.now,
  };

  const read = async (): Promise<Deployment> => {
    const row = await store.find(created.id);
    if (!row) throw new Error('The deployment is gone.');
    return row;
  };
  const pass = async (deps: ReconcileDependencies = dependencies): Promise<PassOutcome> => (await reconcile(deps, created.id)).outcome;
  /** Takes the messages that are due. */
  const takeDue = (): boolean => {
    const due = [...messages].filter(([, dueAt]) => dueAt <= plane.now());
    for (const [slot] of due) messages.set(slot, Number.POSITIVE_INFINITY);
    return due.length > 0;
  };
  return {
    plane,
    store,
    /** The keys of the archives of adapters. */
    archives,
    /** How often an archive was stored or deleted. */
    fileChanges: () => changes.count,
    id: created.id,
    organization: created.organization,
    dependencies,
    use,
    alerted,
    /** The instances that were metered by each pass. */
    meteredInstances,
    starts,
    /** The surcharges on the tokens of adapters; a test can add some. */
    surcharges,
    messages,
    read,
    pass,
    takeDue,
    /** The inventory's row that requests find. */
    model: async () => test.models.get(created.organization, (await read()).name),

    /** Changes the row as its owner does. */
    change: async (changes: Partial<Deployment> | ((row: Deployment) => Partial<Deployment>)): Promise<void> => {
      const row = await read();
      const fields = typeof changes === 'function' ? changes(row) : changes;
      await transact(test.database, [store.toReplace({ ...row, ...fields, changes: row.changes + 1, updated_at: plane.now() })]);
    },

    /** Deletes what SageMaker lets a person delete next of an endpoint: an adapter, its base component, or itself. */
    deleteByHand: (name?: string): void => {
      const { endpoints, inference_components: components } = plane.account.proof();
      const endpoint = name ?? endpoints[0]?.name;
      const InferenceComponentName = components.findLast((component) => component.endpoint === endpoint)?.name;
      if (InferenceComponentName) plane.account.call('SageMaker.DeleteInferenceComponent', JSON.stringify({ InferenceComponentName }));
      else if (endpoint) plane.account.call('SageMaker.DeleteEndpoint', JSON.stringify({ EndpointName: endpoint }));
    },

    /** Adds an adapter as its owner does. */
    addAdapter: async (name: string, source = 's3://sluice-weights/org_1/legal/'): Promise<string> => {
      const row = await read();
      const id = adapterId(plane.now(), ++adaptersAdded);
      const adapter: Adapter = { id, name, source, created_at: plane.now(), created_by: 'user_1', state: 'pending' };
      const changed = { ...row, adapters: [...(row.adapters ?? []), adapter], changes: row.changes + 1 };
      await transact(test.database, [store.toReplace(changed), store.toTakeName(row, adapter)]);
      return id;
    },

    /**
     * Lets time pass, with the passes that the queue and the schedule cause.
     * @param stepMs how far apart they are at least, for times in which more of them would change nothing
     */
    run: async (ms: number, stepMs = DELAY_MS): Promise<Deployment> => {
      for (const end = plane.now() + ms; plane.now() < end; ) {
        plane.advance(stepMs);
        const isScheduled = Math.floor(plane.now() / SCHEDULE_MS) !== Math.floor((plane.now() - stepMs) / SCHEDULE_MS);
        if (takeDue() || isScheduled) await pass();
      }
      return read();
    },
  };
};

export type World = Awaited<ReturnType<typeof createWorld>>;
