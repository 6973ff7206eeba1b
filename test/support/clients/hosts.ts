import { inferenceHostRoutes } from '../../../shared/hosts/inference-routes.ts';
import { COUNT_TOKENS_PATH, MESSAGES_PATH } from '../../../shared/http/messages-path.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { shareTestRun, type TestRun } from './local-run.ts';

/** The inference hosts, which behave alike. */
export const HOSTS = ['serverless', 'on-demand'] as const;
export type HostName = (typeof HOSTS)[number];

/** The facts that differ between the hosts, for tests that run against each of them. */
export interface HostFacts {
  /** The name of its inference function in logs and process ids. */
  inference: string;
  /** The scope of its keys, and of those for the other host. */
  scope: 'serverless' | 'on_demand';
  otherScope: 'serverless' | 'on_demand';
  otherName: string;
  /** The paths that accept POST. */
  paths: readonly string[];
  /** The paths that need no key. */
  openPaths: readonly string[];
  /** The code of a target that is not in service. */
  notReady: string;
  /** The code of a target that is scaled to zero. */
  noCopies: string;
  /** The headers that every request with a key must have. */
  headers: Readonly<Record<string, string>>;
}

const MESSAGES_PATHS = [MESSAGES_PATH, COUNT_TOKENS_PATH];
const { createEmbeddings, createRerank, createRerankV2 } = inferenceHostRoutes;
const POOLING_PATHS = [createEmbeddings.path, createRerank.path, createRerankV2.path];

const FACTS: Record<HostName, HostFacts> = {
  serverless: {
    inference: 'inference',
    scope: 'serverless',
    otherScope: 'on_demand',
    otherName: 'on-demand host',
    paths: ['/v1/chat/completions', '/v1/completions', ...POOLING_PATHS, '/v1/responses', ...MESSAGES_PATHS, '/tokenize', '/detokenize'],
    openPaths: ['/v1/models', '/health', '/version'],
    notReady: 'model_not_ready',
    noCopies: 'no_capacity',
    headers: {},
  },
  'on-demand': {
    inference: 'ondemand-inference',
    scope: 'on_demand',
    otherScope: 'serverless',
    otherName: 'serverless host',
    paths: ['/v1/chat/completions', ...POOLING_PATHS, '/v1/responses', ...MESSAGES_PATHS],
    openPaths: ['/health', '/version'],
    notReady: 'deployment_not_ready',
    noCopies: 'deployment_not_ready',
    headers: { 'x-user-id': '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11' },
  },
};

const ORGANIZATION = 'org_test';

export type HostRun = TestRun & { host: HostFacts };

/**
 * A local run seen through one of its hosts: the URL of the host, and keys for it. The models that are published on
 * the serverless host are deployed for the keys' organization on the on-demand host, under the same names.
 * @param started without any, suites share the run
 */
export const startHostRun = async (name: HostName, started: Promise<TestRun> = shareTestRun()): Promise<HostRun> => {
  const run = await started;
  const host = FACTS[name];
  if (name === 'serverless') return { ...run, host };
  for (const model of (await run.models.list(SERVERLESS_POOL)).values()) await run.models.put(ORGANIZATION, model);
  return {
    ...run,
    host,
    base_url: run.ondemand_url as string,
    createKey: (fields = {}) => run.createKey({ org: ORGANIZATION, scope: host.scope, ...fields }),
  };
};
