import type { QueueSource } from '../../assembly/local-app.ts';
import { cappedTimes, createFifoQueue } from './fifo-queue.ts';
import type { LocalQueue } from './local-queue.ts';
import { createStandardQueue } from './standard-queue.ts';

/**
 * The queue of a source.
 * @param capMs caps the delay of a FIFO queue. Messages of a standard queue choose their own delays, and would come
 * back at once if they came early.
 */
export const createQueueOf = (
  { isFifo, delayMs }: Pick<QueueSource, 'isFifo' | 'delayMs'>,
  capMs = Number.POSITIVE_INFINITY,
): LocalQueue => (isFifo ? createFifoQueue(Date.now, cappedTimes(delayMs, capMs)) : createStandardQueue(Date.now, { delayMs }));
