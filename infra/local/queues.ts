import { randomUUID } from 'node:crypto';
import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Queue } from './assembly/local-app.ts';

/** The queues of the app. What is sent to one is a line of its file: nothing here takes messages from a queue. */
interface Queues {
  /** Throws an Error for an ARN that is no queue of the app. */
  send(queueArn: string, message: object): Promise<void>;
}

/** @param folder where the files are, `<name of the queue>.jsonl` */
export const createQueues = (queues: readonly Queue[], folder: string): Queues => ({
  async send(queueArn, message) {
    const queue = queues.find(({ arn }) => arn === queueArn);
    if (!queue) throw new Error(`There is no queue ${queueArn}`);
    await mkdir(folder, { recursive: true });
    const line = { message_id: randomUUID(), sent_at: new Date().toISOString(), body: message };
    await appendFile(path.join(folder, `${queue.name}.jsonl`), `${JSON.stringify(line)}\n`);
  },
});
