import { LOCAL_MODEL } from '../../../../infra/local/container.ts';
import type { TableFault } from './table-fault.ts';

const sagemaker = (name: string, kind: string, settings: object = {}, spares: TableFault['spares'] = []): TableFault => ({
  name: `SageMaker ${name}`,
  metered: 'fails',
  spares,
  begin: ({ run }) => run.control('sagemaker', { cuts: 'whole', fault: { kind, ...settings } }),
});

// Models that generate no text are invoked without a stream.
const inTheStream = (name: string, kind: string): TableFault => sagemaker(name, kind, { after_parts: 3 }, ['pooling']);

const container = (name: string, settings: Record<string, unknown>, metered: TableFault['metered'] = 'fails'): TableFault => ({
  name: `The model server ${name}`,
  metered,
  begin: ({ run }) => run.control('container', settings),
});

/** Faults of SageMaker's runtime, and of the model servers behind it. */
export const MODEL_FAULTS: readonly TableFault[] = [
  sagemaker('throttles', 'throttling'),
  sagemaker('is unavailable', 'service_unavailable'),
  sagemaker('fails', 'internal_failure'),
  sagemaker('fails in a dependency', 'internal_dependency'),
  sagemaker('does not have the model ready', 'model_not_ready'),
  sagemaker('has no copy of the model', 'no_capacity'),
  sagemaker('has no copy of one of the models', 'no_capacity', { endpoint: LOCAL_MODEL }, ['fallback', 'pooling']),
  sagemaker('rejects the call', 'validation'),
  sagemaker('refuses connections', 'refuse'),
  sagemaker('reports an error of the model server', 'model_error'),
  inTheStream('reports an error in the stream', 'model_stream_error'),
  inTheStream('fails in the stream', 'internal_stream_failure'),
  inTheStream('breaks the connection in the stream', 'socket_destroyed'),
  inTheStream('cuts a frame', 'truncated_frame'),
  inTheStream('sends a corrupt frame', 'bad_checksum'),
  inTheStream('ends the stream without `[DONE]`', 'end_without_done'),
  container('is slow to its first token', { first_token_delay_ms: 500 }, 'succeeds'),
  container('returns 500', { fault: { kind: 'error', status: 500 } }),
  container('returns 503', { fault: { kind: 'error', status: 503 } }),
  container('returns 429', { fault: { kind: 'error', status: 429 } }),
  container('sends garbage', { fault: { kind: 'error_event', after_tokens: 3, body: '<html>' } }),
  container('sends an error event', { fault: { kind: 'error_event', after_tokens: 3 } }),
  container('ends the stream without `[DONE]`', { fault: { kind: 'end_without_done', after_tokens: 3 } }),
  container('breaks the connection', { fault: { kind: 'destroy', after_tokens: 3 } }),
];
