import * as z from 'zod';
import { createCaller } from './caller.ts';

const CONNECT_MS = 1_000;
const SILENCE_MS = 5_000;
const MAX_READ_ATTEMPTS = 3;
const MAX_REPLY_BYTES = 128 * 1024;

const Secret = z.object({ SecretString: z.string().min(1) });

/**
 * Reads the text of a secret with Secrets Manager's call GetSecretValue
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html).
 * @param id the ARN or name of the secret
 */
export const readSecret = async (id: string): Promise<string> => {
  const caller = createCaller({
    service: 'secretsManager',
    connectMs: CONNECT_MS,
    silenceMs: SILENCE_MS,
    maxReplyBytes: MAX_REPLY_BYTES,
    maxSockets: 1,
  });
  const headers = [
    ['content-type', 'application/x-amz-json-1.1'],
    ['x-amz-target', 'secretsmanager.GetSecretValue'],
  ] as const;
  const body = JSON.stringify({ SecretId: id });
  return caller.call({ path: '/', headers, body }, MAX_READ_ATTEMPTS, (reply) =>
    Secret.parse(JSON.parse(reply.body.toString())).SecretString.trim(),
  );
};
