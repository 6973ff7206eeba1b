import type { _Record as StreamRecord } from '@aws-sdk/client-dynamodb-streams';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { REGION } from '../../assembly/resolve.ts';

/** Converts a record to the format of Lambda's events: JSON, time in seconds, bytes as base64. */
export const toLambdaRecord = ({ dynamodb, ...record }: StreamRecord, sourceArn: string): unknown => {
  const { ApproximateCreationDateTime: createdAt, ...change } = dynamodb ?? {};
  const output = {
    ...record,
    awsRegion: REGION,
    dynamodb: { ...(createdAt && { ApproximateCreationDateTime: Math.floor(createdAt.getTime() / SECOND_MS) }), ...change },
    eventSourceARN: sourceArn,
  };
  return JSON.parse(JSON.stringify(output, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value)));
};
