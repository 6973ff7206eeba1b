import { LOCAL_COMPONENT, LOCAL_MODEL } from '../../infra/local/container.ts';
import { type AwsCaller, createCaller } from '../../shared/aws/caller.ts';
import type { Database } from '../../shared/database/database.ts';
import { createDirectDatabases } from '../../shared/database/direct-database.ts';
import { ask } from './client.ts';
import { shortBody } from './prompts.ts';
import type { Stack } from './stack.ts';

const REGION = 'eu-west-1';
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };
const TIMEOUT_MS = 15_000;
const MAX_ERROR_BYTES = 64 * 1024;
const UNAUTHORIZED = 401;
const INVOCATIONS = `/endpoints/${LOCAL_MODEL}/invocations-response-stream`;
const INVOCATION_HEADERS = [
  ['content-type', 'application/json'],
  ['x-amzn-sagemaker-inference-component', LOCAL_COMPONENT],
] as const;

/**
 * Measures what a request waits for in the emulators, whatever the function does; on AWS, the services take their
 * place.
 */
export interface Emulators {
  /** A request that the function refuses before its first call, through the emulators of API Gateway and Lambda; ms. */
  refused(): Promise<number>;
  /** A conditional write of an item; ms. */
  write(): Promise<number>;
  /** The first byte of an invocation's answer; ms. */
  invocation(): Promise<number>;
}

const writeItem = async (database: Database, table: string): Promise<void> => {
  await database.update({
    TableName: table,
    Key: { id: 'bench' },
    UpdateExpression: 'ADD requests :one',
    ConditionExpression: 'attribute_not_exists(cfg)',
    ExpressionAttributeValues: { ':one': 1 },
    ReturnValues: 'ALL_NEW',
  });
};

const invoke = async (sagemaker: AwsCaller): Promise<number> => {
  const startedAt = performance.now();
  const reply = await sagemaker.open({ path: INVOCATIONS, headers: INVOCATION_HEADERS, body: shortBody(true) });
  return new Promise((resolve, reject) => {
    let ms: number | undefined;
    reply.read(
      () => {
        ms ??= performance.now() - startedAt;
      },
      (error) => (ms === undefined || error ? reject(error ?? new Error('The reply is empty.')) : resolve(ms)),
    );
  });
};

const timed = async (work: () => Promise<void>): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

/** The emulators of a local run, which are called as the function calls them, over connections of their own. */
export const openEmulators = ({ run, servers }: Stack): Emulators => {
  const place = { region: REGION, credentials: CREDENTIALS };
  const { database } = createDirectDatabases({ ...place, endpoint: run.dynamodb_endpoint });
  const sagemaker = createCaller({
    ...place,
    service: 'sagemakerRuntime',
    endpoint: run.sagemaker_url,
    connectMs: TIMEOUT_MS,
    silenceMs: TIMEOUT_MS,
    maxReplyBytes: MAX_ERROR_BYTES,
    maxSockets: 1,
  });
  return {
    refused: async () => (await ask({ url: servers.sluice.url, headers: {} }, shortBody(true), UNAUTHORIZED)).latencyMs,
    write: () => timed(() => writeItem(database, run.tables.Keys as string)),
    invocation: () => invoke(sagemaker),
  };
};
