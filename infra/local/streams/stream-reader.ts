import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';

// DynamoDB Local adds and closes shards; dynoxide has only one.
const SHARD_LIST_INTERVAL_MS = 10_000;
const MAX_SHARD_PAGES = 100;

interface Shard {
  id: string;
  /** Of the last record read. */
  sequenceNumber?: string | undefined;
  iterator?: string | undefined;
  isClosed?: boolean;
}

/** Reads a table's stream from its beginning. */
export interface StreamReader {
  /**
   * Yields new records: at most one page per shard, in order. After a failure the next call continues after the last
   * page.
   */
  poll(): AsyncIterable<readonly StreamRecord[]>;
}

export const createStreamReader = (database: DynamoDBClient, streams: DynamoDBStreamsClient, tableName: string): StreamReader => {
  const shards = new Map<string, Shard>();
  let streamArn: string | undefined;
  let listedAtMs = Number.NEGATIVE_INFINITY;

  const listShards = async (): Promise<void> => {
    streamArn ??= (await database.send(new DescribeTableCommand({ TableName: tableName }))).Table?.LatestStreamArn;
    let last: string | undefined;
    for (let page = 0; page < MAX_SHARD_PAGES; page++) {
      const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn: streamArn, ExclusiveStartShardId: last }));
      for (const { ShardId: id = '' } of StreamDescription?.Shards ?? []) if (!shards.has(id)) shards.set(id, { id });
      last = StreamDescription?.LastEvaluatedShardId;
      if (last === undefined) break;
    }
    listedAtMs = performance.now();
  };

  const iteratorOf = async (shard: Shard): Promise<string | undefined> => {
    const from = (position: object) =>
      streams.send(
        new GetShardIteratorCommand({ StreamArn: streamArn, ShardId: shard.id, ShardIteratorType: 'TRIM_HORIZON', ...position }),
      );
    try {
      const { sequenceNumber } = shard;
      const { ShardIterator } = await from(
        sequenceNumber === undefined ? {} : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: sequenceNumber },
      );
      return ShardIterator;
    } catch (error) {
      if (!(error instanceof TrimmedDataAccessException)) throw error;
      return (await from({})).ShardIterator;
    }
  };

  const readShard = async (shard: Shard): Promise<StreamRecord[]> => {
    const iterator = shard.iterator ?? (await iteratorOf(shard));
    // If this call fails (expired iterator, database restart), the next one continues after the last record.
    shard.iterator = undefined;
    const { Records = [], NextShardIterator } = await streams.send(new GetRecordsCommand({ ShardIterator: iterator }));
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
