import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { UsageGroup } from '../query/group-usage.ts';
import type { UsageBucket } from './read-buckets.ts';

/** The schema of a page of buckets with these results, as OpenAI's admin API names them. */
export const pageSchema = <Result extends z.ZodType>(result: Result) =>
  z.object({
    object: z.literal('page'),
    data: z.array(
      z.object({
        object: z.literal('bucket'),
        start_time: z.int().meta({ description: 'The start of what the bucket counts (Unix seconds), inclusive.' }),
        end_time: z.int().meta({ description: 'The end of what the bucket counts (Unix seconds), exclusive.' }),
        results: z.array(result),
      }),
    ),
    has_more: z.boolean(),
    next_page: z.string().nullable().meta({ description: 'To get the next page, send this as `page`. Null on the last page.' }),
  });

export const pageOfBuckets = <Result>(
  { buckets, next }: { buckets: UsageBucket[]; next: string | null },
  resultOf: (group: UsageGroup) => Result,
) => ({
  object: 'page' as const,
  data: buckets.map(({ fromMs, toMs, groups }) => ({
    object: 'bucket' as const,
    start_time: fromMs / SECOND_MS,
    end_time: toMs / SECOND_MS,
    results: groups.map(resultOf),
  })),
  has_more: next !== null,
  next_page: next,
});
