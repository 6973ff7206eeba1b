import * as z from 'zod';

/** An integer without a bound: DynamoDB returns a number, or a bigint if a number would not be exact. */
export const StoredInteger = z.union([z.int(), z.bigint()]).transform(BigInt);
