import { randomUUID } from 'node:crypto';
import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Queue } from '../assembly/local-app.ts';

// The app's queues of failures. Each message is appended to the queue's file; nothing receives messages.
interface Queues {
  /** @throws Error if the ARN is not a queue of the app */
  send(queueArn: string, message: object): Promise<void>;
}

/** @param folder holds one file per queue, `<queue name>.jsonl` */
export const createQueues = (queues: readonly Queue[], folder: string): Queues => ({
  async send(queueArn, message) {
    const queue = queues.find(({ arn }) => arn === queueArn);
    if (!queue) throw new Error(`Queue ${queueArn} does not exist`);
    await mkdir(folder, { recursive: true });
    const line = { message_id: randomUUID(), sent_at: new Date().toISOString(), body: message };
    await appendFile(path.join(folder, `${queue.name}.jsonl`), `${JSON.stringify(line)}\n`);
  },
});
