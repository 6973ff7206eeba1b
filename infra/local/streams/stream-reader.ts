import type { CallDatabase } from '../dynamodb/database-calls.ts';

// DynamoDB Local adds and closes shards; dynoxide has only one.
const SHARD_LIST_INTERVAL_MS = 10_000;
const MAX_SHARD_PAGES = 100;

/** A record in the JSON of DynamoDB's API, with the parts that are read here. */
export interface StreamRecord {
  dynamodb?: {
    /** In seconds. */
    ApproximateCreationDateTime?: number;
    Keys?: Record<string, { S?: string }>;
    SequenceNumber?: string;
  };
}

interface Shard {
  id: string;
  /** The sequence number of the last record that was read. */
  sequenceNumber?: string | undefined;
  iterator?: string | undefined;
  isClosed?: boolean;
}

interface TableOutput {
  Table?: { LatestStreamArn?: string };
}
interface StreamOutput {
  StreamDescription?: { Shards?: { ShardId?: string }[]; LastEvaluatedShardId?: string };
}
interface IteratorOutput {
  ShardIterator?: string;
}
interface RecordsOutput {
  Records?: StreamRecord[];
  NextShardIterator?: string;
}

/** Reads a table's stream from its beginning. */
export interface StreamReader {
  /**
   * Yields new records: at most one page per shard, in order. After a failure the next call continues after the last
   * page.
   */
  poll(): AsyncIterable<readonly StreamRecord[]>;
}

export const createStreamReader = (call: CallDatabase, tableName: string): StreamReader => {
  const shards = new Map<string, Shard>();
  let streamArn: string | undefined;
  let listedAtMs = Number.NEGATIVE_INFINITY;

  const listShards = async (): Promise<void> => {
    streamArn ??= (await call<TableOutput>('DescribeTable', { TableName: tableName })).Table?.LatestStreamArn;
    let last: string | undefined;
    for (let page = 0; page < MAX_SHARD_PAGES; page++) {
      const { StreamDescription } = await call<StreamOutput>('DescribeStream', { StreamArn: streamArn, ExclusiveStartShardId: last });
      for (const { ShardId: id = '' } of StreamDescription?.Shards ?? []) if (!shards.has(id)) shards.set(id, { id });
      last = StreamDescription?.LastEvaluatedShardId;
      if (last === undefined) break;
    }
    listedAtMs = performance.now();
  };

  const iteratorOf = async (shard: Shard): Promise<string | undefined> => {
    const from = (position: object) =>
      call<IteratorOutput>('GetShardIterator', { StreamArn: streamArn, ShardId: shard.id, ShardIteratorType: 'TRIM_HORIZON', ...position });
    try {
      const { sequenceNumber } = shard;
      const { ShardIterator } = await from(
        sequenceNumber === undefined ? {} : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: sequenceNumber },
      );
      return ShardIterator;
    } catch (error) {
      if ((error as Error).name !== 'TrimmedDataAccessException') throw error;
      return (await from({})).ShardIterator;
    }
  };

  const readShard = async (shard: Shard): Promise<StreamRecord[]> => {
    const iterator = shard.iterator ?? (await iteratorOf(shard));
    // If this call fails (expired iterator, database restart), the next one continues after the last record.
    shard.iterator = undefined;
    const { Records = [], NextShardIterator } = await call<RecordsOutput>('GetRecords', { ShardIterator: iterator });
    shard.iterator = NextShardIterator;
    shard.isClosed = !NextShardIterator;
    shard.sequenceNumber = Records.at(-1)?.dynamodb?.SequenceNumber ?? shard.sequenceNumber;
    return Records;
  };

  return {
    async *poll() {
      if (performance.now() - listedAtMs > SHARD_LIST_INTERVAL_MS) await listShards();
      for (const shard of shards.values()) if (!shard.isClosed) yield await readShard(shard);
    },
  };
};
