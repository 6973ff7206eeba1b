import { redact } from '../../shared/aws/redact.ts';
import type { DeploymentReason } from '../../shared/deployments/reason.ts';
import type { AdapterRefused } from './adapters/refused.ts';
import { wordsOf } from './aws/errors.ts';
import { HubNotAllowed } from './aws/generation-resources.ts';

// docs/reasons.md has an entry for each code.
const REASONS = {
  insufficient_capacity: {
    message: 'AWS has no free instance of the requested types at the moment.',
    action: 'Wait, or add other instance types to instance_types. Retry the deployment if it has failed.',
  },
  quota_exceeded: {
    message: "The AWS account's quota for this instance type is used up.",
    action:
      'Ask your administrator to request a higher quota, choose another instance type, or stop a deployment that you no longer need. Then retry.',
  },
  not_enough_hardware: {
    message: 'A copy of the model needs more accelerators or memory than an instance of this type has.',
    action: 'Choose a larger instance type, or lower accelerators.',
  },
  image_not_started: {
    message: "The runtime's image could not be pulled or started: the container produced no logs.",
    action: 'Choose another runtime or another instance type. Ask your administrator to check the image and the AMI of this runtime.',
  },
  weights_unreadable: {
    message: 'The weights could not be loaded from the location in model.',
    action: "Check that the location has the model's complete, uncompressed files, then retry.",
  },
  crash_loop: {
    message: 'The container crashes each time it starts.',
    action: 'See the log line in `reason.aws`. Change environment, accelerators, instance_types or the runtime to fix it.',
  },
  container_failed: {
    message: 'The container stopped before the model was ready.',
    action:
      'Check that the runtime supports the model, and that the model fits into the memory of the accelerators. Then change the deployment or retry.',
  },
  health_check_failed: {
    message: 'The container started but never became healthy.',
    action:
      'Check that the runtime supports the model. If the model is very large, choose an instance type with faster storage. Then retry.',
  },
  start_timed_out: {
    message: 'No copy became ready in time.',
    action: 'Retry. If it happens again, try another instance type, and ask your administrator to check the health of SageMaker.',
  },
  scale_to_zero_unsupported: {
    message: 'SageMaker does not allow endpoints without instances in this region.',
    action: 'Ask your administrator to run deployments in another region.',
  },
  access_denied: {
    message: 'AWS denied Sluice a call that this deployment needs.',
    action: 'Ask your administrator to check the permissions of the deployments function and of the execution role.',
  },
  rejected_by_aws: {
    message: 'AWS rejected the configuration of this deployment.',
    action: "See AWS's message in `reason.aws`, change the deployment accordingly, then retry.",
  },
  failed_on_aws: {
    message: 'AWS reports that this deployment has failed.',
    action: "See AWS's message in `reason.aws`. Retry; if it fails again, change the instance type or the runtime.",
  },
  hub_not_allowed: {
    message: 'Models of the Hugging Face Hub are no longer allowed here.',
    action: "Copy the model's files to your organization's folder of the weights bucket, change model to that folder, then retry.",
  },
  name_in_use: {
    message: 'A model that was registered by hand already has the name of this deployment.',
    action: 'Delete that model, or create the deployment under another name. Then retry.',
  },
  adapter_files_missing: {
    message: "The adapter's folder is not complete.",
    action:
      'Save the adapter with PEFT as adapter_config.json and adapter_model.safetensors, upload both, then delete it and add it again.',
  },
  adapter_too_large: {
    message: 'The adapter is too large.',
    action: 'Train it with a lower rank or for fewer modules, then delete it and add it again.',
  },
  adapter_invalid: {
    message: "The adapter can't be used.",
    action: 'Save it with PEFT as a plain LoRA adapter, upload both files, then delete it and add it again.',
  },
  adapter_rank_too_high: {
    message: "The adapter's rank is too high for its deployment.",
    action: 'Raise adapters.max_rank of the deployment, or use an adapter with a lower rank. Then delete it and add it again.',
  },
  adapter_not_packed: {
    message: "The adapter's files could not be read and stored within an hour.",
    action: 'Check that the files no longer change, then delete the adapter and add it again.',
  },
  adapter_not_loaded: {
    message: "The deployment's containers could not load the adapter.",
    action: 'Check that it was trained for this model and that the runtime supports its modules, then delete it and add it again.',
  },
  credit_low: {
    message: "Your organization's credit lasts for less than an hour of this deployment.",
    action: 'Add credit. Otherwise the deployment is stopped when the credit is used up.',
  },
  out_of_credit: {
    message: "Your organization's credit is used up, so the deployment was stopped.",
    action: 'Add credit, then start the deployment.',
  },
  window_unpaid: {
    message:
      "Your organization's credit doesn't pay for the window of the schedule that is open or opens soon, so its copies are not started.",
    action: 'Add credit. The copies start within a minute.',
  },
  instances_not_released: {
    message: 'Nobody uses the deployment, and its copies are removed, but AWS has not released its instances, which are still charged.',
    action: 'Stop the deployment: its instances are then removed with its endpoint. Start it when you need it again.',
  },
  removal_blocked: {
    message: 'AWS has not yet removed everything of this deployment.',
    action: 'Wait. If it lasts for hours, ask your administrator to check what is left on AWS.',
  },
} as const satisfies Record<string, Omit<DeploymentReason, 'code' | 'aws'>>;

export type ReasonCode = keyof typeof REASONS;
export const reasonCodes = Object.keys(REASONS) as ReasonCode[];

const MAX_MESSAGE_CHARACTERS = 500;

/** The reason with a code. @param aws the message of AWS or of the container */
export const reasonFor = (code: ReasonCode, aws?: string): DeploymentReason => ({
  code,
  ...REASONS[code],
  ...(aws && { aws: redact(aws.slice(0, 2 * MAX_MESSAGE_CHARACTERS)).slice(0, MAX_MESSAGE_CHARACTERS) }),
});

// The most specific patterns come first.
const BY_WORDS: readonly (readonly [RegExp, ReasonCode])[] = [
  [/InsufficientInstanceCapacity|Unable to provision requested ML compute capacity|insufficient capacity/i, 'insufficient_capacity'],
  [/ResourceLimitExceeded|service limit|service quota/i, 'quota_exceeded'],
  [/not enough hardware resources/i, 'not_enough_hardware'],
  [/MinInstanceCount/, 'scale_to_zero_unsupported'],
  [/model data|download|S3DataSource|s3:GetObject|NoSuchKey|NoSuchBucket/i, 'weights_unreadable'],
  [/AccessDenied|not authorized|missing the following permissions|UnrecognizedClient/i, 'access_denied'],
  [/CannotStartContainerError|CannotPullContainer|\bECR\b|repository/i, 'image_not_started'],
  [/ping health check/i, 'health_check_failed'],
  [/Container failed to start|container.{0,40}(?:exit|fail)/i, 'container_failed'],
];

const codeFor = (words: string, otherwise: ReasonCode): ReasonCode => BY_WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? otherwise;

/**
 * The reason of a failed endpoint or component, from its `FailureReason`.
 * @param hasStarted true if its container wrote anything
 */
export const reasonOfFailure = (words: string | undefined, hasStarted: boolean): DeploymentReason => {
  const code = codeFor(words ?? '', 'failed_on_aws');
  return reasonFor(code === 'image_not_started' && hasStarted ? 'container_failed' : code, words);
};

/** The reason for which an adapter's files can't be used. */
export const reasonOfRefusal = ({ code, message }: AdapterRefused): DeploymentReason => ({ ...reasonFor(code), message });

/** The reason of a generation that couldn't load an adapter which the one before it serves. */
export const reasonOfLostAdapter = (name: string): DeploymentReason => ({
  ...reasonFor('adapter_not_loaded'),
  message: `The containers of the new generation could not load the adapter '${name}'.`,
  action: 'Change what the new generation runs, or delete the adapter. Then roll out again.',
});

/** The reason of a call that AWS rejected for good. */
export const reasonOfRejection = (error: unknown): DeploymentReason => {
  if (error instanceof HubNotAllowed) return reasonFor('hub_not_allowed');
  const words = wordsOf(error);
  return reasonFor(codeFor(words, 'rejected_by_aws'), words);
};
