import { AwsError } from '../../http/json-api.ts';
import { busy, overQuota } from './requests/errors.ts';
import type { CallFaultKind } from './settings.ts';

/** The error of a failure before a call is executed. */
export const callFault = (kind: Exclude<CallFaultKind, 'lost_reply'>, operation: string, name: string): AwsError => {
  switch (kind) {
    case 'throttling':
      return new AwsError('ThrottlingException', 'Rate exceeded');
    case 'service_unavailable':
      return new AwsError('ServiceUnavailable', 'Service is currently unavailable. Please try again later.', 503);
    case 'internal_failure':
      return new AwsError('InternalFailure', 'An internal failure occurred.', 500);
    case 'quota':
      return overQuota('ml.g5.xlarge', 0, 0, 1);
    case 'busy':
      return busy(
        operation.startsWith('Delete') ? 'delete' : 'update',
        operation.includes('InferenceComponent') ? 'inference-component' : 'endpoint',
        name,
        'UPDATE_IN_PROGRESS',
      );
  }
};
