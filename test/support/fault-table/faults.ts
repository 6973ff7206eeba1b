import type { FaultProxy, FaultShares } from '../fault-proxy.ts';
import type { TestRun } from '../local-run.ts';

/** What the faults of the table act on. */
export interface FaultyRun {
  run: TestRun;
  proxy: FaultProxy;
  /** Limits the proxy's faults to these calls. */
  failOnly: (mayFail: (operation: string, body: Buffer) => boolean) => void;
}

/** A row of the table: a fault that begins before its requests are sent and ends after their replies. */
export interface TableFault {
  name: string;
  /** Whether it is one of the proxy's, which counts the calls that it failed. */
  isOfDatabase?: true;
  begin: (faulty: FaultyRun) => Promise<void>;
  /** Whether requests that reach the model can still get a whole answer, or must fail. */
  metered: 'succeeds' | 'fails' | 'either';
}

const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);
const always = (): boolean => true;

const database = (
  name: string,
  shares: Partial<FaultShares>,
  mayFail: (tables: FaultyRun['run']['tables']) => (operation: string, body: Buffer) => boolean = () => always,
  metered: TableFault['metered'] = 'either',
): TableFault => ({
  name: `DynamoDB ${name}`,
  isOfDatabase: true,
  metered,
  begin: async ({ run, proxy, failOnly }) => {
    failOnly(mayFail(run.tables));
    proxy.faults = shares;
  },
});

const isOf = (table: string | undefined, body: Buffer): boolean => {
  if (table === undefined) throw new Error('The app has no such table.');
  return body.includes(`"${table}"`);
};

const sagemaker = (name: string, kind: string, metered: TableFault['metered'] = 'fails', settings: object = {}): TableFault => ({
  name: `SageMaker ${name}`,
  metered,
  begin: ({ run }) => run.control('sagemaker', { cuts: 'whole', fault: { kind, ...settings } }),
});

const container = (name: string, settings: Record<string, unknown>, metered: TableFault['metered'] = 'fails'): TableFault => ({
  name: `The model server ${name}`,
  metered,
  begin: ({ run }) => run.control('container', settings),
});

/** The rows of the table, in its order. */
export const TABLE_FAULTS: readonly TableFault[] = [
  { name: 'None', metered: 'succeeds', begin: async () => undefined },
  database('throttles every call', { throttled: 1 }, undefined, 'fails'),
  database('fails every call', { failed: 1 }, undefined, 'fails'),
  database('breaks every connection', { lostRequest: 1 }, undefined, 'fails'),
  database('is slow', { slow: 1 }, undefined, 'succeeds'),
  database('does every call and loses every reply', { lostReply: 1 }, undefined, 'fails'),
  database('does every call and replies with 500', { failedAfter: 1 }, undefined, 'fails'),
  database('fails every write', { failed: 1 }, () => (operation) => WRITES.has(operation), 'fails'),
  database('fails every read', { failed: 1 }, () => (operation) => !WRITES.has(operation)),
  database(
    'fails for the table `usage`',
    { failed: 1 },
    ({ Usage }) =>
      (_, body) =>
        isOf(Usage, body),
    'succeeds',
  ),
  database(
    'loses replies of the table `usage`',
    { lostReply: 1 },
    ({ Usage }) =>
      (_, body) =>
        isOf(Usage, body),
    'succeeds',
  ),
  database(
    'fails for the table `keys`',
    { failed: 1 },
    ({ Keys }) =>
      (_, body) =>
        isOf(Keys, body),
  ),
  database(
    'fails for the table `responses`',
    { failed: 1 },
    ({ Responses }) =>
      (_, body) =>
        isOf(Responses, body),
  ),
  sagemaker('throttles', 'throttling'),
  sagemaker('is unavailable', 'service_unavailable'),
  sagemaker('fails', 'internal_failure'),
  sagemaker('fails in a dependency', 'internal_dependency'),
  sagemaker('does not have the model ready', 'model_not_ready'),
  sagemaker('has no copy of the model', 'no_capacity'),
  sagemaker('rejects the call', 'validation'),
  sagemaker('refuses connections', 'refuse'),
  sagemaker('reports an error of the model server', 'model_error'),
  sagemaker('reports an error in the stream', 'model_stream_error', 'fails', { after_parts: 3 }),
  sagemaker('fails in the stream', 'internal_stream_failure', 'fails', { after_parts: 3 }),
  sagemaker('breaks the connection in the stream', 'socket_destroyed', 'fails', { after_parts: 3 }),
  sagemaker('cuts a frame', 'truncated_frame', 'fails', { after_parts: 3 }),
  sagemaker('sends a corrupt frame', 'bad_checksum', 'fails', { after_parts: 3 }),
  sagemaker('ends the stream without `[DONE]`', 'end_without_done', 'fails', { after_parts: 3 }),
  container('is slow to its first token', { first_token_delay_ms: 500 }, 'succeeds'),
  container('returns 500', { fault: { kind: 'error', status: 500 } }),
  container('returns 503', { fault: { kind: 'error', status: 503 } }),
  container('returns 429', { fault: { kind: 'error', status: 429 } }),
  container('sends garbage', { fault: { kind: 'error_event', after_tokens: 3, body: '<html>' } }),
  container('sends an error event', { fault: { kind: 'error_event', after_tokens: 3 } }),
  container('ends the stream without `[DONE]`', { fault: { kind: 'end_without_done', after_tokens: 3 } }),
  container('breaks the connection', { fault: { kind: 'destroy', after_tokens: 3 } }),
];

/** Ends every fault. */
export const endFaults = async ({ run, proxy, failOnly }: FaultyRun): Promise<void> => {
  proxy.faults = {};
  failOnly(always);
  await Promise.all([run.control('sagemaker'), run.control('container')]);
  await run.control('sagemaker', { cuts: 'whole' });
};
