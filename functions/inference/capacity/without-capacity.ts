import { UpstreamFailed } from '../../../shared/upstream/errors.ts';

// SageMaker's error for an inference component without copies; starting one takes minutes.
const SCALED_TO_ZERO = /inference component has no capacity/i;

/** True if the target has no copies, or doesn't exist: it is not just busy. */
export const isWithoutCapacity = (error: unknown): error is UpstreamFailed =>
  error instanceof UpstreamFailed && (error.code === 'model_not_ready' || SCALED_TO_ZERO.test(error.detail));
