import { createCaller } from '../../../shared/aws/caller.ts';
import { REGION } from '../../assembly/resolve.ts';

const MAX_CALL_ATTEMPTS = 3;
const CONNECT_MS = 5_000;
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const MAX_SOCKETS = 64;

const OF_STREAMS: ReadonlySet<string> = new Set(['DescribeStream', 'GetShardIterator', 'GetRecords']);

/**
 * Calls an operation of DynamoDB or of its streams, with the JSON of its API.
 * @throws AwsError whose name is AWS's code; an error of the network
 */
export type CallDatabase = <Output>(operation: string, input: object) => Promise<Output>;

/**
 * Returns what calls the database of a local run without the SDK, which takes a tenth of the CPU time of a start.
 * @param silenceMs the most time without a byte of a reply
 */
export const createDatabaseCalls = (endpoint: string, silenceMs: number): CallDatabase => {
  const caller = createCaller({
    service: 'dynamodb',
    endpoint,
    region: REGION,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    connectMs: CONNECT_MS,
    silenceMs,
    maxReplyBytes: MAX_REPLY_BYTES,
    maxSockets: MAX_SOCKETS,
  });
  return (operation, input) => {
    const api = OF_STREAMS.has(operation) ? 'DynamoDBStreams_20120810' : 'DynamoDB_20120810';
    const headers = [
      ['content-type', 'application/x-amz-json-1.0'],
      ['x-amz-target', `${api}.${operation}`],
    ] as const;
    return caller.call({ path: '/', headers, body: JSON.stringify(input) }, MAX_CALL_ATTEMPTS, ({ body }) => JSON.parse(body.toString()));
  };
};
