import { REGION } from '../../assembly/resolve.ts';
import type { StreamRecord } from './stream-reader.ts';

/** Converts a record to the format of Lambda's events, whose time is in whole seconds. */
export const toLambdaRecord = ({ dynamodb, ...record }: StreamRecord, sourceArn: string): unknown => {
  const { ApproximateCreationDateTime: createdAt, ...change } = dynamodb ?? {};
  return {
    ...record,
    awsRegion: REGION,
    dynamodb: { ...(createdAt !== undefined && { ApproximateCreationDateTime: Math.floor(createdAt) }), ...change },
    eventSourceARN: sourceArn,
  };
};
