import { gunzipSync } from 'node:zlib';
import * as z from 'zod';

/** A line of a log. */
export interface BatchLine {
  /** The same in each delivery. */
  id: string;
  text: string;
}

/** Lines of one log stream. */
export interface LogBatch {
  stream: string;
  lines: BatchLine[];
}

// Far more than a delivery has: an event for Lambda can have 1 MB, compressed.
const MAX_BYTES = 64 * 1024 * 1024;

const Batch = z.object({
  /** A CONTROL_MESSAGE only tests whether the function can be reached. */
  messageType: z.enum(['DATA_MESSAGE', 'CONTROL_MESSAGE']),
  logGroup: z.string(),
  logStream: z.string(),
  logEvents: z.array(z.object({ id: z.string(), message: z.string() })),
});

/**
 * Parses a delivery of a subscription filter of CloudWatch Logs
 * (https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/SubscriptionFilters.html#LambdaFunctionExample).
 * @param data the event's `awslogs.data`: JSON, compressed with gzip, as base64
 * @throws Error if it is not that
 */
export const readLogBatch = (data: string): LogBatch => {
  const text = gunzipSync(Buffer.from(data, 'base64'), { maxOutputLength: MAX_BYTES }).toString();
  const { messageType, logGroup, logStream, logEvents } = Batch.parse(JSON.parse(text));
  return {
    stream: `${logGroup}/${logStream}`,
    lines: messageType === 'DATA_MESSAGE' ? logEvents.map(({ id, message }) => ({ id, text: message })) : [],
  };
};
