import type { _Record as StreamRecord } from '@aws-sdk/client-dynamodb-streams';
import { REGION } from '../assembly/resolve.ts';

const SECOND_MS = 1_000;

/** A record as Lambda hands it to a function: JSON, its time in seconds, bytes as base64. */
export const toLambdaRecord = ({ dynamodb, ...record }: StreamRecord, sourceArn: string): unknown => {
  const { ApproximateCreationDateTime: createdAt, ...change } = dynamodb ?? {};
  const told = {
    ...record,
    awsRegion: REGION,
    dynamodb: { ...(createdAt && { ApproximateCreationDateTime: Math.floor(createdAt.getTime() / SECOND_MS) }), ...change },
    eventSourceARN: sourceArn,
  };
  return JSON.parse(JSON.stringify(told, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value)));
};
