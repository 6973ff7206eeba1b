import { logError, logInfo } from '../../shared/logging/log.ts';
import { type RefusalStore, type RefusedRequest, TooManyLines } from '../../shared/observability/refusal-store.ts';
import type { LogBatch } from './log-batch.ts';
import { readRefusal } from './read-refusal.ts';

/**
 * Counts the refused requests in a batch of lines, minute by minute. Lines that can't be read, and those of a minute
 * that has too many, are logged and left out: another attempt would end the same way.
 * @throws 503 if the database can't be reached, or too many batches count the same at the same time; a repeated batch
 * counts only the rest
 */
export const countRefusals = async (store: Pick<RefusalStore, 'count'>, { stream, lines }: LogBatch): Promise<void> => {
  const minutes = new Map<number, RefusedRequest[]>();
  let unreadable = 0;
  for (const line of lines) {
    const read = readRefusal(line);
    if (!read) unreadable += 1;
    else if (!minutes.get(read.startMs)?.push(read.refusal)) minutes.set(read.startMs, [read.refusal]);
  }
  let counted = 0;
  for (const [startMs, refusals] of minutes)
    counted += await store.count({ stream, startMs }, refusals).catch((error: unknown) => {
      if (!(error instanceof TooManyLines)) throw error;
      logError('refusals_not_counted', error, { lines: refusals.length });
      return 0;
    });
  if (unreadable > 0) logError('refusals_not_counted', new Error('Lines of refused requests cannot be read.'), { lines: unreadable });
  logInfo('refusals', { lines: lines.length, counted });
};
