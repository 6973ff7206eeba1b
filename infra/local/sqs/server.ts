import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { closeServer, listen } from '../http/listen.ts';
import { withOutages } from '../http/outage.ts';
import { readBody } from '../http/read-body.ts';
import { InvalidMessage, type LocalQueue } from './local-queue.ts';

const MAX_REQUEST_BYTES = 1024 * 1024;
const MAX_MESSAGE_BYTES = 256 * 1024;

export interface SqsEmulator {
  url: string;
  close(): Promise<void>;
}

const SendMessage = z.object({
  QueueUrl: z.string(),
  MessageBody: z.string().min(1),
  MessageGroupId: z
    .string()
    .regex(/^[!-~]{1,128}$/)
    .optional(),
  MessageDeduplicationId: z
    .string()
    .regex(/^[!-~]{1,128}$/)
    .optional(),
  DelaySeconds: z.int().min(0).max(900).optional(),
});

interface Answer {
  status: number;
  body: object;
}

/**
 * Starts an emulator of SQS with the call SendMessage, in SQS's JSON protocol
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html). Its
 * outages are managed at `/control`.
 * @param queues by their URL on AWS
 */
export const startSqs = async (queues: ReadonlyMap<string, LocalQueue>): Promise<SqsEmulator> => {
  const server = createServer(
    withOutages((request, response) => {
      answerTo(queues, request).then(
        ({ status, body }) => response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body)),
        () => response.destroy(),
      );
    }),
  );
  return { url: await listen(server, 0), close: () => closeServer(server) };
};

const answerTo = async (queues: ReadonlyMap<string, LocalQueue>, request: IncomingMessage): Promise<Answer> => {
  const body = await readBody(request, MAX_REQUEST_BYTES);
  if (request.method !== 'POST' || request.headers['x-amz-target'] !== 'AmazonSQS.SendMessage')
    return rejection('UnsupportedOperation', 'The local run supports only SendMessage.');
  const parsed = SendMessage.safeParse(parseJson(body));
  if (!parsed.success)
    return rejection('InvalidParameterValue', 'The local run needs QueueUrl and MessageBody, and takes at most 900 DelaySeconds.');
  const { QueueUrl, MessageBody, MessageGroupId: group, MessageDeduplicationId: deduplicationId, DelaySeconds } = parsed.data;
  const queue = queues.get(QueueUrl);
  if (!queue) return rejection('QueueDoesNotExist', 'The specified queue does not exist.');
  if (Buffer.byteLength(MessageBody) > MAX_MESSAGE_BYTES)
    return rejection('InvalidParameterValue', `Message must be shorter than ${MAX_MESSAGE_BYTES} bytes.`);
  const delayMs = DelaySeconds === undefined ? undefined : DelaySeconds * SECOND_MS;
  try {
    const { id } = queue.send({ body: MessageBody, group, deduplicationId, delayMs });
    return { status: 200, body: { MessageId: id, MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex') } };
  } catch (error) {
    if (!(error instanceof InvalidMessage)) throw error;
    return rejection('InvalidParameterValue', error.message);
  }
};

const parseJson = (body: Buffer | undefined): unknown => {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
};

const rejection = (type: string, message: string): Answer => ({ status: 400, body: { __type: `com.amazonaws.sqs#${type}`, message } });
