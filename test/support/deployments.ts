import { createAccountTable } from '../../shared/database/record-table.ts';
import { transact } from '../../shared/database/transaction.ts';
import { type Deployment, NO_PROGRESS } from '../../shared/deployments/deployment.ts';
import { createDeploymentStore } from '../../shared/deployments/deployment-store.ts';
import { newTimedId } from '../../shared/ids/id.ts';
import type { TestDatabase } from './database.ts';

/** A test database, or that of a local run. */
type Tables = Pick<TestDatabase, 'database' | 'tables'>;

/** The deployments of a test database. */
export const deploymentsOf = ({ database, tables }: Tables) =>
  createDeploymentStore(createAccountTable(database, tables.Deployments as string));

/** A new deployment on one GPU, of which nothing exists yet. */
export const newDeployment = (fields: Partial<Deployment> & Pick<Deployment, 'organization'>): Deployment => {
  const { created_at = Date.now() } = fields;
  return {
    id: newTimedId('deployment', created_at),
    name: 'qwen3-8b',
    created_at,
    created_by: 'user_1',
    updated_at: created_at,
    version: 1,
    changes: 1,
    wanted: 'running',
    copies: { min: 1, max: 2 },
    scale_to_zero_after_seconds: 600,
    max_concurrency_per_copy: 8,
    tags: {},
    serving: {
      context_length: 8_192,
      max_output_tokens: 4_096,
      default_output_tokens: 512,
      capabilities: { tools: true, json_object: true, logprobs: true, thinking_budget: false },
      thinking_variable: 'enable_thinking',
      continuous_usage: false,
      default_temperature: 1,
      default_top_p: 1,
    },
    generations: [
      {
        number: 1,
        runtime: {
          id: 'vllm-0.27.0',
          image: '763104351884.dkr.ecr.us-east-1.amazonaws.com/vllm:server-sagemaker-cuda-v2.3',
          dialect: 'vllm',
        },
        model: `s3://sluice-weights/${fields.organization}/qwen3-8b/`,
        allows_code: false,
        instance_types: ['ml.g5.xlarge'],
        accelerators: 1,
        environment: {},
        created_at,
        status: 'creating',
      },
    ],
    traffic_percent: 100,
    state: 'pending',
    state_since: created_at,
    progress: NO_PROGRESS,
    transitions: [{ state: 'pending', at: created_at }],
    starts: [],
    ...fields,
  };
};

/** Stores a deployment and returns it. */
export const storeDeployment = async (test: Tables, fields: Parameters<typeof newDeployment>[0]): Promise<Deployment> => {
  const deployment = newDeployment(fields);
  await transact(test.database, deploymentsOf(test).toCreate(deployment));
  return deployment;
};
