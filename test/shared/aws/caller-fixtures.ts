import { type CallerOptions, createCaller } from '../../../shared/aws/caller.ts';

export const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret' };

/** A caller of DynamoDB at this URL, with bounds that a test can wait for. */
export const callerOf = (endpoint: string, options: Partial<CallerOptions> = {}) =>
  createCaller({
    service: 'dynamodb',
    region: 'us-east-1',
    endpoint,
    credentials,
    connectMs: 10_000,
    silenceMs: 10_000,
    maxReplyBytes: 1_000,
    maxSockets: 10,
    ...options,
  });

/** Small enough to wait for, where a test expects the timeout. */
export const SHORT_MS = 100;

export const aCall = { path: '/', headers: [['content-type', 'application/json']], body: '{"é":1}' } as const;

export const textOf = ({ body }: { body: Buffer }): string => body.toString();
