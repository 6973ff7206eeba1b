import { isConnectionError } from '../../../shared/aws/errors.ts';

// The fields of the SDK's errors.
interface Thrown {
  name?: string;
  message?: string;
  status?: number;
  $metadata?: { httpStatusCode?: number };
}

const TRANSIENT = new Set([
  'AbortError',
  'ConcurrentUpdateException',
  'ConflictException',
  'InternalFailure',
  'InternalServiceException',
  'RequestLimitExceeded',
  'ResourceInUse',
  'ServiceUnavailable',
  'ServiceUnavailableException',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TimeoutError',
  'TooManyRequestsException',
]);
const TOO_MANY_REQUESTS = 429;
const FIRST_SERVER_STATUS = 500;

/**
 * True if the same call may succeed a little later: a throttle, or a failure of AWS or the network. Its effect is
 * unknown.
 */
export const isRetryable = (error: unknown): boolean => {
  const { name = '', status, $metadata } = error as Thrown;
  const code = status ?? $metadata?.httpStatusCode ?? 0;
  return TRANSIENT.has(name) || isConnectionError(error) || code === TOO_MANY_REQUESTS || code >= FIRST_SERVER_STATUS;
};

// SageMaker has no typed error for a missing resource.
const ABSENT = /^(?:Could not find|Requested resource not found)|\bdoes not exist\b|\bnot found\b/i;

/** True if the described or deleted resource does not exist. */
export const isAbsent = (error: unknown): boolean => {
  const { name = '', message = '' } = error as Thrown;
  const isNotFound = name === 'ResourceNotFound' || name === 'ResourceNotFoundException' || name === 'ObjectNotFoundException';
  return isNotFound || (name === 'ValidationException' && ABSENT.test(message));
};

// The same words about weights name no ARN.
const UNKNOWN_PART = /^Could not find .{0,40}\barn:[\w-]+:sagemaker:/i;

/**
 * True if a call names another SageMaker resource that does not exist, or that was created so recently that SageMaker
 * does not see it everywhere.
 */
export const lacksPart = (error: unknown): boolean => {
  const { name = '', message = '' } = error as Thrown;
  return name === 'ValidationException' && UNKNOWN_PART.test(message);
};

const EXISTS = /\balready exist(?:s|ing)\b/i;

/**
 * True if a creation found its own name in use. If nothing with that name can be described, SageMaker does not show it
 * yet, or is still removing it.
 */
export const isNameTaken = (error: unknown): boolean => {
  const { name = '', message = '' } = error as Thrown;
  return name === 'ValidationException' && EXISTS.test(message);
};

// For minutes after a component is gone, SageMaker can reject the deletion of its endpoint because of it.
const BUSY =
  /\bin-progress\b|\bwhile it is in state\b|\bin progress\b|\bis a base inference component\b|\binference components? associated\b/i;

/** True if a resource is changing and accepts no other change yet. */
export const isBusy = (error: unknown): boolean => {
  const { name = '', message = '' } = error as Thrown;
  return name === 'ValidationException' && BUSY.test(message);
};

/** AWS's error code and message. */
export const wordsOf = (error: unknown): string => {
  const { name = 'Error', message = String(error) } = error as Thrown;
  return name === 'ValidationException' ? message : `${name}: ${message}`;
};
