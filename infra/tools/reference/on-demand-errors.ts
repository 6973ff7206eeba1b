import { DeploymentBusy, DeploymentStopped, WakeUnpaid } from '../../../functions/inference/capacity/errors.ts';
import { expiredKey, missingKey, wrongHost, wrongKey } from '../../../shared/admission/item/key-errors.ts';
import { OutOfCredit } from '../../../shared/gpu-time/start-credit.ts';
import { invalidUserId, USER_HEADER } from '../../../shared/http/user-id.ts';
import { DeploymentNotFound, DeploymentNotReady } from '../../../shared/models/errors.ts';
import type { ErrorReply } from './error-reply.ts';
import { endUserErrors, inferenceErrorReplies, WAITING_LIMITS, wakingExample } from './inference-errors.ts';

const host = { scope: 'on_demand' } as const;
const reason = {
  code: 'crash_loop',
  message: 'The container exits at its start: it needs more memory than the GPU has.',
  action: 'Lower max-model-len or choose a larger instance type.',
};

const { model_not_found: _, ...notFound } = inferenceErrorReplies[404].errors;
// Every request names its end user in the header.
const { user_required: _required, ...invalid } = inferenceErrorReplies[400].errors;
const { user_required: _never, ...limitsOfUser } = endUserErrors(USER_HEADER);

/** The on-demand host's error responses by status: those of the serverless host, with deployments instead of models. */
export const onDemandErrorReplies: Readonly<Record<keyof typeof inferenceErrorReplies, ErrorReply>> = {
  ...inferenceErrorReplies,
  400: {
    ...inferenceErrorReplies[400],
    description:
      'The request is invalid, uses a feature that the model does not support, or has no valid `X-User-Id` header. `param` names the field or the header.',
    errors: { ...invalid, user_id: invalidUserId() },
  },
  401: {
    ...inferenceErrorReplies[401],
    errors: {
      missing: missingKey(),
      wrong: wrongKey(),
      expired: expiredKey(),
      other_host: wrongHost('serverless', 'https://sluice.example.com'),
    },
  },
  404: {
    ...inferenceErrorReplies[404],
    description: 'A resource in the request does not exist, or belongs to another organization.',
    errors: {
      deployment_misspelt: new DeploymentNotFound('qwen3-9b', ['qwen3-8b']),
      deployment_not_found: new DeploymentNotFound('support-desk', ['qwen3-8b', 'qwen3-32b']),
      ...notFound,
    },
  },
  429: {
    ...inferenceErrorReplies[429],
    errors: {
      ...inferenceErrorReplies[429].errors,
      ...limitsOfUser,
      wake_unpaid: new WakeUnpaid('qwen3-8b', new OutOfCredit('qwen3-8b', { neededNanos: 705_000_000n, availableNanos: 120_000_000n })),
    },
  },
  503: {
    ...inferenceErrorReplies[503],
    description:
      'The deployment or the service is unavailable. `deployment_waking`: it is starting, and `error.wake` says when it is expected to be in service. A failed request without streaming is not charged.',
    errors: {
      ...inferenceErrorReplies[503].errors,

      deployment_waking: wakingExample(host, 'not_requested'),
      deployment_waking_full: wakingExample(host, 'too_many'),
      deployment_waking_share: wakingExample(host, 'too_many_of_organization'),
      deployment_waking_too_late: wakingExample(host, 'too_late'),
      deployment_waking_no_instance: wakingExample(host, 'no_instance'),
      deployment_waking_late: wakingExample(host, 'time_over'),
      deployment_busy: new DeploymentBusy(host, 'qwen3-8b', 'time_over', WAITING_LIMITS),
      deployment_stopped: new DeploymentStopped(host, 'qwen3-8b', { wanted: 'stopped', state: 'stopped' }),
      deployment_failed: new DeploymentStopped(host, 'qwen3-8b', { wanted: 'running', state: 'failed', reason }),
      deployment_not_ready: new DeploymentNotReady('qwen3-8b'),
    },
  },
};
