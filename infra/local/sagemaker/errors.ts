import { ACCOUNT_ID, REGION } from '../../assembly/resolve.ts';
import type { Fault, HeadFaultKind } from './invocation-settings.ts';

/** An error response of the SageMaker runtime API. */
export interface WireError {
  status: number;
  /** The value of `x-amzn-errortype`. */
  type: string;
  body: Readonly<Record<string, unknown>>;
}

const MAX_ORIGINAL_MESSAGE_CHARS = 65_536;

const plain = (status: number, type: string, message: string): WireError => ({ status, type, body: { message } });

export const endpointNotFound = (endpoint: string): WireError =>
  plain(400, 'ValidationError', `Endpoint ${endpoint} of account ${ACCOUNT_ID} not found.`);

/** An endpoint with inference components accepts only requests for one of them; other endpoints accept no component. */
export const componentMismatch = (endpoint: string, expected: string | undefined, received: string | undefined): WireError => {
  if (expected === undefined) return plain(400, 'ValidationError', `Endpoint ${endpoint} does not host inference components.`);
  if (received !== undefined) return plain(400, 'ValidationError', `Inference Component ${received} not found.`);
  return plain(
    400,
    'ValidationError',
    'Inference Component Name header is required for endpoints to which you plan to deploy inference components.',
  );
};

export const payloadTooLarge = (maxBytes: number): WireError =>
  plain(413, 'ValidationError', `Request body is larger than the limit of ${maxBytes} bytes.`);

/**
 * SageMaker's response to an error of the container.
 * @param status the container's status
 * @param message the container's body
 */
export const modelError = (endpoint: string, status: number, message: string): WireError => {
  const original = message.slice(0, MAX_ORIGINAL_MESSAGE_CHARS);
  const group = `/aws/sagemaker/Endpoints/${endpoint}`;
  const console = `https://${REGION}.console.aws.amazon.com/cloudwatch/home?region=${REGION}#logEventViewer:group=${group}`;
  const side = status >= 400 && status < 500 ? 'client' : 'server';
  return {
    status: 424,
    type: 'ModelError',
    body: {
      ErrorCode: side === 'client' ? 'CLIENT_ERROR_FROM_MODEL' : 'INTERNAL_FAILURE_FROM_MODEL',
      LogStreamArn: `arn:aws:logs:${REGION}:${ACCOUNT_ID}:log-group:${group}`,
      Message: `Received ${side} error (${status}) from primary with message "${original}". See ${console} in account ${ACCOUNT_ID} for more information.`,
      OriginalMessage: original,
      OriginalStatusCode: status,
    },
  };
};

/** SageMaker's response to a container that is too slow for InvokeEndpoint. The container has no status then. */
export const invocationTimedOut = (endpoint: string): WireError =>
  modelError(
    endpoint,
    0,
    'Your invocation timed out while waiting for a response from container primary. Review the latency metrics for each container in Amazon CloudWatch, resolve the issue, and try again.',
  );

/** A component without a copy in service. */
export const NO_CAPACITY = plain(
  400,
  'ValidationError',
  'Inference Component has no capacity to process this request. ApplicationAutoScaling may be in-progress (if configured) or try to increase the capacity by invoking UpdateInferenceComponentRuntimeConfig API.',
);

/** The error response of a fault before the head of the response; `refuse` has none. */
export const faultError = (kind: Exclude<HeadFaultKind, 'refuse'>, fault: Fault, endpoint: string): WireError => {
  if (kind === 'model_error') return modelError(endpoint, fault.original_status, fault.original_message);
  const error = PLAIN_FAULTS[kind];
  return { ...error, status: fault.status ?? error.status };
};

const PLAIN_FAULTS: Readonly<Record<Exclude<HeadFaultKind, 'refuse' | 'model_error'>, WireError>> = {
  throttling: plain(429, 'ThrottlingException', 'Rate exceeded'),
  service_unavailable: plain(503, 'ServiceUnavailable', 'Service is currently unavailable. Please try again later.'),
  internal_failure: plain(500, 'InternalFailure', 'An internal failure occurred.'),
  internal_dependency: plain(530, 'InternalDependencyException', 'Your request caused an exception with an internal dependency.'),
  model_not_ready: plain(429, 'ModelNotReadyException', 'The model is not ready for inference yet. Wait and try your request again.'),
  validation: plain(400, 'ValidationError', 'Inspect your request and try again.'),
  no_capacity: NO_CAPACITY,
};
