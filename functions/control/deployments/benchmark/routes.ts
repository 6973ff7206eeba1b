import { createRoute } from '../../access/route.ts';
import { BenchmarkEstimate, DeploymentBenchmark } from './benchmark-resource.ts';
import { cancelBenchmark } from './cancel-benchmark.ts';
import { NewBenchmark } from './new-benchmark.ts';
import { retrieveBenchmark } from './retrieve-benchmark.ts';
import { type BenchmarkWrites, startBenchmark } from './start-benchmark.ts';

const route = createRoute<BenchmarkWrites>('Deployments');
const path = '/v1/deployments/{id}/benchmark';
const parameters = { id: { description: 'The id of a deployment.', example: 'dep_VbdBUPc4RtYvB8fK2m' } } as const;
const benchmark = { name: 'DeploymentBenchmark', schema: DeploymentBenchmark };

export const benchmarkRoutes = [
  route(
    {
      method: 'POST',
      path,
      operationId: 'startDeploymentBenchmark',
      summary: 'Measure how many requests a deployment serves at the same time',
      description:
        'Sends requests to the deployment, more and more at the same time, until a goal is missed. It runs in the background, takes GPU time up to `budget`, and ends when the deployment must sleep. An organization can run one at a time.',
      access: 'deployments:write',
      // Without lengths, each reads up to 5,000 rows of requests.
      limits: ['benchmarks'],
      parameters,
      body: {
        name: 'NewDeploymentBenchmark',
        schema: NewBenchmark,
        example: { budget: '2.50', goals: { ttft_p95_ms: 1_000, inter_token_p95_ms: 50 }, apply: true },
      },
      reply: { status: 202, description: 'The benchmark. Its `status` shows the progress.', json: benchmark },
      trialReply: {
        status: 200,
        description: 'With `validate_only`: its price, and the lengths of its requests.',
        json: { name: 'DeploymentBenchmarkEstimate', schema: BenchmarkEstimate },
      },
      errors: [400, 404, 409, 503],
    },
    ({ deps, actor, parameters: { id = '' }, body }) => startBenchmark(deps, actor, id, body),
  ),
  route(
    {
      method: 'GET',
      path,
      operationId: 'retrieveDeploymentBenchmark',
      summary: 'Retrieve the newest benchmark of a deployment, and the last curves',
      access: 'deployments:read',
      parameters,
      reply: { status: 200, description: 'The benchmark, also while it runs, and the curves that are kept.', json: benchmark },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => retrieveBenchmark(deps, actor, id),
  ),
  route(
    {
      method: 'POST',
      path: `${path}/cancel`,
      operationId: 'cancelDeploymentBenchmark',
      summary: 'Cancel the benchmark of a deployment',
      description: 'Its requests are aborted within seconds. A benchmark that has ended stays as it is.',
      access: 'deployments:write',
      isOpenToSuspended: true,
      parameters,
      reply: { status: 200, description: 'The benchmark.', json: benchmark },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => cancelBenchmark(deps, actor, id),
  ),
];
