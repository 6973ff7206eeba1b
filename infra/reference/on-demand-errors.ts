import { expiredKey, missingKey, wrongHost, wrongKey } from '../../shared/admission/key-errors.ts';
import { invalidUserId } from '../../shared/http/user-id.ts';
import { DeploymentNotFound, DeploymentNotReady } from '../../shared/models/errors.ts';
import { type ErrorReply, examplesOf } from './error-reply.ts';
import { inferenceErrorReplies } from './inference-errors.ts';

const { model_not_found: _, ...notFound } = inferenceErrorReplies[404].examples;

/** The replies of the on-demand host to requests that fail, by status: those of the serverless host, in which a model is a deployment. */
export const onDemandErrorReplies: Readonly<Record<keyof typeof inferenceErrorReplies, ErrorReply>> = {
  ...inferenceErrorReplies,
  400: {
    ...inferenceErrorReplies[400],
    description:
      'The request is not as documented, or asks for what the model cannot do; or the header `X-User-Id` is missing or malformed. `param` names the property, or the header.',
    examples: { ...inferenceErrorReplies[400].examples, ...examplesOf({ user_id: invalidUserId() }) },
  },
  401: {
    ...inferenceErrorReplies[401],
    examples: examplesOf({
      missing: missingKey(),
      wrong: wrongKey(),
      expired: expiredKey(),
      other_host: wrongHost('serverless', 'https://sluice.example.com'),
    }),
  },
  404: {
    ...inferenceErrorReplies[404],
    description: 'What the request names does not exist, or is of another organization.',
    examples: {
      ...examplesOf({
        deployment_misspelt: new DeploymentNotFound('qwen3-9b', ['qwen3-8b']),
        deployment_not_found: new DeploymentNotFound('support-desk', ['qwen3-8b', 'qwen3-32b']),
      }),
      ...notFound,
    },
  },
  503: {
    ...inferenceErrorReplies[503],
    description: 'The deployment or the service cannot take the request now. A reply in one piece that fails costs nothing.',
    examples: { ...examplesOf({ deployment_not_ready: new DeploymentNotReady('qwen3-8b') }), ...inferenceErrorReplies[503].examples },
  },
};
