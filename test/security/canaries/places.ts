import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { exportBodies, SIGNALS } from '../../../functions/telemetry/export-bodies.ts';
import { UsageEvent } from '../../../shared/usage/event.ts';
import type { TestRun } from '../../support/clients/local-run.ts';

// On AWS, the logs of the container, the database and the emails are not ours.
const FOREIGN = /^(?:container|dynamodb|mail)/;
const GZIP = [0x1f, 0x8b];

const isGzip = (bytes: Uint8Array): boolean => GZIP.every((byte, i) => bytes[i] === byte);

// Compressed bytes are searched, too.
const textOf = (bytes: Uint8Array): string => Buffer.from(isGzip(bytes) ? gunzipSync(bytes) : bytes).toString('latin1');

type Row = Record<string, unknown>;

// Without names of attributes, whole rows.
const rowsOf = async ({ database }: TestRun, table: string, ...names: readonly string[]): Promise<Row[]> => {
  const projection = names.length > 0 && {
    ProjectionExpression: names.map((_, index) => `#${index}`).join(),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#${index}`, name])),
  };
  const rows: Row[] = [];
  let from: Row | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await database.scan({
      TableName: table,
      ...projection,
      ...(from && { ExclusiveStartKey: from }),
    });
    rows.push(...(Items as Row[]));
    from = LastEvaluatedKey as Row | undefined;
  } while (from);
  return rows;
};

const textOfRows = (rows: readonly Row[]): string =>
  JSON.stringify(rows, (_, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    return value instanceof Uint8Array ? textOf(value) : value;
  });

const clientOf = ({ s3_endpoint }: TestRun): S3Client =>
  new S3Client({
    endpoint: s3_endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    forcePathStyle: true,
  });

const keysOf = async (s3: S3Client, bucket: string): Promise<string[]> => {
  const { Contents = [], IsTruncated } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }));
  if (IsTruncated) throw new Error(`The bucket ${bucket} has more objects than were read.`);
  return Contents.map(({ Key = '' }) => Key);
};

const objectsOf = async (s3: S3Client, bucket: string): Promise<string[]> =>
  Promise.all(
    (await keysOf(s3, bucket)).map(async (Key) => {
      const { Body, Metadata, ContentType } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key }));
      return JSON.stringify({ Key, Metadata, ContentType }) + textOf((await Body?.transformToByteArray()) ?? new Uint8Array());
    }),
  );

// The bodies of spans and metrics.
const telemetryOf = (events: readonly Row[]): string => {
  const source = {
    installation: { name: 'sluice', version: 'test', region: 'us-east-1', process: 'test' },
    interval: { startNanos: 0n, endNanos: 1n },
  };
  const parsed = events.map((event) => UsageEvent.parse(event));
  return SIGNALS.flatMap((signal) => exportBodies(signal, parsed, source).map(textOf)).join('\n');
};

const isEvent = ({ usage_event: id }: Row): boolean => typeof id === 'string' && id.startsWith('req_');

/** True if the row of each request of a run is written, and the payload of each that is logged. */
export const areWritten = async (run: TestRun): Promise<boolean> => {
  const s3 = clientOf(run);
  const [usage, rows, keys] = await Promise.all([
    rowsOf(run, run.tables.Usage as string, 'usage_event', 'request_id', 'is_payload_logged'),
    rowsOf(run, run.tables.Observability as string, 'record'),
    keysOf(s3, run.buckets.Payloads as string),
  ]);
  s3.destroy();
  const withRow = new Set(rows.map(({ record }) => record));
  const withPayload = new Set(keys.map((key) => path.basename(key, '.json.gz')));
  return usage
    .filter(isEvent)
    .every(({ request_id: id, is_payload_logged: isLogged }) => withRow.has(id) && (isLogged !== true || withPayload.has(String(id))));
};

/** Reads the objects of a bucket. */
export const readBucket = async (run: TestRun, name: string): Promise<string> => {
  const s3 = clientOf(run);
  const objects = await objectsOf(s3, run.buckets[name] as string);
  s3.destroy();
  return objects.join('\n');
};

/** Reads everything that a run has stored, logged or would export, by place. */
export const readPlaces = async (run: TestRun) => {
  const places = new Map<string, string>();
  for (const [name, table] of Object.entries(run.tables)) {
    const rows = await rowsOf(run, table);
    if (name === 'Usage') places.set('telemetry', telemetryOf(rows.filter(isEvent)));
    places.set(`table ${name}`, textOfRows(rows));
  }
  for (const name of Object.keys(run.buckets)) places.set(`bucket ${name}`, await readBucket(run, name));
  for (const file of await readdir(run.state, { recursive: true, withFileTypes: true })) {
    const isForeign = FOREIGN.test(file.name) || FOREIGN.test(path.basename(file.parentPath));
    if (file.isFile() && !isForeign) {
      const name = path.join(file.parentPath, file.name);
      // A draft can have been renamed since the folder was read.
      const content = await readFile(name, 'latin1').catch((error: Error) => (existsSync(name) ? Promise.reject(error) : ''));
      places.set(`file ${path.relative(run.state, name)}`, content);
    }
  }
  places.set('output', run.output);
  return places;
};
