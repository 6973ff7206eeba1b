import { idempotencyKeyOf } from '../../../shared/http/idempotency-key.ts';
import { pageOf } from '../../../shared/http/page.ts';
import { createRoute, Trial } from '../access/route.ts';
import { SHORT_PAGES } from '../lists/filtered-page.ts';
import { Advice, type AdviceDependencies, AdviceQuery, adviceFor } from './advice/advice.ts';
import { deleteDeployment, retryDeployment, startDeployment, stopDeployment } from './control-deployment.ts';
import { type CreateDependencies, createDeployment } from './create-deployment.ts';
import { DeploymentResource } from './deployment-resource.ts';
import { Estimate } from './estimate.ts';
import { DeploymentsQuery, type ListDependencies, listDeployments, retrieveDeployment } from './find-deployment.ts';
import { DeploymentUpdate, NewDeployment } from './new-deployment.ts';
import { Publication, type PublishDependencies, publishDeployment, unpublishDeployment } from './publish-deployment.ts';
import { ShadowQuery, type ShadowReads, ShadowReport, shadowReport } from './shadow/report.ts';
import { updateDeployment } from './update-deployment.ts';

const route = createRoute<CreateDependencies & PublishDependencies & ListDependencies & AdviceDependencies & ShadowReads>('Deployments');
const deployments = '/v1/deployments';
const oneDeployment = `${deployments}/{id}`;
const parameters = { id: { description: 'The id of a deployment.', example: 'dep_VbdBUPc4RtYvB8fK2m' } } as const;
const deployment = { name: 'Deployment', schema: DeploymentResource };
const CreatedDeployment = DeploymentResource.extend({
  estimate: Estimate.nullable().meta({ description: 'Its price and the time to start; null: the deployment exists already.' }),
});

const change = { parameters, isVersioned: true, errors: [400, 404, 409, 412, 503] } as const;
// The change is made in the background.
const accepted = { status: 202, description: 'The deployment. Its `state` shows the progress.', json: deployment } as const;

export const deploymentRoutes = [
  route(
    {
      method: 'POST',
      path: deployments,
      operationId: 'createDeployment',
      summary: 'Create a deployment',
      description:
        'Runs a model of your own on GPUs, under a name that only your organization can call. The reply comes at once; the deployment starts in minutes. A request that is repeated, with the same idempotency key or for the same name, returns the same deployment.',
      access: 'deployments:write',
      limits: ['deployments', 'aws_calls'],
      isIdempotent: true,
      body: {
        name: 'NewDeployment',
        schema: NewDeployment,
        example: {
          name: 'qwen3-8b',
          model: 's3://sluice-weights/org_VbdBUPc4RtYvB8fK2m/qwen3-8b/',
          runtime: 'vllm-0.27.1',
          instance_types: ['ml.g5.xlarge', 'ml.g6.xlarge'],
          copies: { min: 1, max: 2 },
          environment: { SM_VLLM_MAX_MODEL_LEN: '16384' },
        },
      },
      reply: { status: 201, description: 'The deployment.', json: { name: 'CreatedDeployment', schema: CreatedDeployment } },
      trialReply: {
        status: 200,
        description: 'With `validate_only`: what the deployment would cost, and how long it would take to start.',
        json: { name: 'Estimate', schema: Estimate },
      },
      errors: [400, 404, 409, 422, 503],
    },
    async ({ deps, actor, body, event }) => {
      const created = await createDeployment(deps, actor, body, idempotencyKeyOf(event));
      return created.deployment ? { ...created.deployment, estimate: created.estimate } : new Trial(created.estimate);
    },
  ),
  route(
    {
      method: 'GET',
      path: deployments,
      operationId: 'listDeployments',
      summary: 'List deployments',
      description: `Deleted deployments are not listed. Without \`organization\`, admins get those of all organizations. ${SHORT_PAGES}`,
      access: 'deployments:read',
      query: DeploymentsQuery,
      reply: {
        status: 200,
        description: 'A page of deployments: sorted by name, or in no particular order if they are those of all organizations.',
        json: { name: 'DeploymentList', schema: pageOf(DeploymentResource) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listDeployments(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: oneDeployment,
      operationId: 'retrieveDeployment',
      summary: 'Retrieve a deployment',
      access: 'deployments:read',
      parameters,
      reply: { status: 200, description: 'The deployment.', json: deployment },
      errors: [404, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => retrieveDeployment(deps, actor, id),
  ),
  route(
    {
      method: 'GET',
      path: `${oneDeployment}/advice`,
      operationId: 'retrieveDeploymentAdvice',
      summary: 'Suggest when a deployment should sleep',
      description:
        "Replays whole days of the deployment's own use and GPU time with other values of `scale_to_zero_after_seconds`: what each would have cost, and how long requests would have waited for starts. Starts take as long as the nearest one that was seen. Copies beyond the least ones run as they did.",
      access: 'deployments:read',
      limits: ['searches'],
      parameters,
      query: AdviceQuery,
      reply: {
        status: 200,
        description: 'The replay of the present settings, the best others, and a suggestion.',
        json: { name: 'DeploymentAdvice', schema: Advice },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: { id = '' }, query }) => adviceFor(deps, actor, id, query),
  ),
  route(
    {
      method: 'GET',
      path: `${oneDeployment}/shadow`,
      operationId: 'retrieveDeploymentShadow',
      summary: 'Compare a new generation with the old one',
      description:
        'How the new generation answered the requests that were also sent to it, with what the old one answered: only numbers. The verdict follows from the thresholds, and `apply` is the request that carries it out.',
      access: 'deployments:read',
      parameters,
      query: ShadowQuery,
      reply: { status: 200, description: 'The comparison.', json: { name: 'DeploymentShadow', schema: ShadowReport } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: { id = '' }, query }) => shadowReport(deps, actor, id, query),
  ),
  route(
    {
      method: 'PATCH',
      path: oneDeployment,
      operationId: 'updateDeployment',
      summary: 'Update a deployment, or roll out a new generation',
      description:
        'Fields that you omit keep their values. A new runtime, model, environment, `adapters`, accelerators or instance types make a new generation. It starts beside the old one and gets `traffic_percent` of the requests once it is ready. If it fails, all requests go to the old one.',
      access: 'deployments:write',
      limits: ['aws_calls'],
      ...change,
      body: {
        name: 'DeploymentUpdate',
        schema: DeploymentUpdate,
        example: { runtime: 'vllm-0.30.0', traffic_percent: 10 },
      },
      reply: { status: 200, description: 'The deployment.', json: deployment },
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => updateDeployment(deps, actor, { id, expected }, body),
  ),
  route(
    {
      method: 'POST',
      path: `${oneDeployment}/stop`,
      operationId: 'stopDeployment',
      summary: 'Stop a deployment',
      description: "Removes everything of the deployment from AWS, so that it costs nothing. Requests don't wake it.",
      access: 'deployments:write',
      isOpenToSuspended: true,
      ...change,
      reply: accepted,
    },
    ({ deps, actor, parameters: { id = '' }, expected }) => stopDeployment(deps, actor, { id, expected }),
  ),
  route(
    {
      method: 'POST',
      path: `${oneDeployment}/start`,
      operationId: 'startDeployment',
      summary: 'Start a stopped deployment',
      access: 'deployments:write',
      ...change,
      reply: accepted,
    },
    ({ deps, actor, parameters: { id = '' }, expected }) => startDeployment(deps, actor, { id, expected }),
  ),
  route(
    {
      method: 'POST',
      path: `${oneDeployment}/retry`,
      operationId: 'retryDeployment',
      summary: 'Try a failed deployment again',
      access: 'deployments:write',
      ...change,
      reply: accepted,
    },
    ({ deps, actor, parameters: { id = '' }, expected }) => retryDeployment(deps, actor, { id, expected }),
  ),
  route(
    {
      method: 'DELETE',
      path: oneDeployment,
      operationId: 'deleteDeployment',
      summary: 'Delete a deployment',
      description:
        'Removes everything of the deployment from AWS. Its state is `deleted` once nothing of it is left there, and its name is free.',
      access: 'deployments:write',
      isOpenToSuspended: true,
      ...change,
      reply: accepted,
    },
    ({ deps, actor, parameters: { id = '' }, expected }) => deleteDeployment(deps, actor, { id, expected }),
  ),
  route(
    {
      method: 'POST',
      path: `${oneDeployment}/publish`,
      operationId: 'publishDeployment',
      summary: 'Publish a deployment as a shared model',
      description:
        'Callers of the serverless host pay for its tokens. Its organization goes on paying for its GPU time. The targets get the same checks as when a model is registered.',
      access: 'deployments:publish',
      needsFreshLogin: true,
      limits: ['aws_calls'],
      ...change,
      body: {
        name: 'Publication',
        schema: Publication,
        example: { name: 'qwen3-8b', prices: [{ per_million: { prompt: '0.05', completion: '0.2' } }] },
      },
      reply: { status: 200, description: 'The deployment.', json: deployment },
    },
    ({ deps, actor, parameters: { id = '' }, body, expected }) => publishDeployment(deps, actor, { id, expected }, body),
  ),
  route(
    {
      method: 'POST',
      path: `${oneDeployment}/unpublish`,
      operationId: 'unpublishDeployment',
      summary: 'Unpublish a shared model',
      description: 'The shared model is deleted within 30 s for callers; the deployment goes on.',
      access: 'deployments:publish',
      ...change,
      reply: { status: 200, description: 'The deployment.', json: deployment },
    },
    ({ deps, actor, parameters: { id = '' }, expected }) => unpublishDeployment(deps, actor, { id, expected }),
  ),
];
