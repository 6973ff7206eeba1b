import { THROUGHPUT_OF_NEW_TABLE } from '../../config/warm-throughput.ts';

/** A limit or a rate of AWS, with its source. */
export interface AwsLimit {
  value: number;
  /**
   * `documented`: AWS's own text says it. `assumed`: AWS publishes no number, so this one is ours, and may be wrong.
   */
  status: 'documented' | 'assumed';
  source: string;
}

const DYNAMODB = 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide';
const LAMBDA = 'https://docs.aws.amazon.com/lambda/latest/dg';

/** The default limits of an account in us-east-1. A number is written here only. */
export const AWS_LIMITS = {
  partitionWrites: { value: 1_000, status: 'documented', source: `${DYNAMODB}/bp-partition-key-design.html` },
  partitionReads: { value: 3_000, status: 'documented', source: `${DYNAMODB}/bp-partition-key-design.html` },
  newTableWrites: { value: THROUGHPUT_OF_NEW_TABLE.writes, status: 'documented', source: `${DYNAMODB}/warm-throughput-scenarios.html` },
  newTableReads: { value: THROUGHPUT_OF_NEW_TABLE.reads, status: 'documented', source: `${DYNAMODB}/warm-throughput-scenarios.html` },
  tableWrites: { value: 40_000, status: 'documented', source: `${DYNAMODB}/on-demand-capacity-mode.html` },
  tableReads: { value: 40_000, status: 'documented', source: `${DYNAMODB}/on-demand-capacity-mode.html` },
  // AWS's posts show partitions that were split after some minutes of load. Its documentation has no number.
  splitMinutes: {
    value: 10,
    status: 'assumed',
    source: 'https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/',
  },
  databaseCallMs: { value: 5, status: 'assumed', source: `${DYNAMODB}/on-demand-capacity-mode.html` },
  databaseTransactionMs: { value: 15, status: 'assumed', source: `${DYNAMODB}/transaction-apis.html` },
  gatewayRequests: {
    value: 10_000,
    status: 'documented',
    source: 'https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html',
  },
  lambdaEnvironments: { value: 1_000, status: 'documented', source: `${LAMBDA}/gettingstarted-limits.html` },
  lambdaRequestsPerEnvironment: { value: 10, status: 'documented', source: `${LAMBDA}/lambda-concurrency.html` },
  lambdaEnvironmentsInTenSeconds: { value: 1_000, status: 'documented', source: `${LAMBDA}/scaling-behavior.html` },
  tracedSegments: { value: 2_600, status: 'documented', source: 'https://docs.aws.amazon.com/general/latest/gr/xray.html' },
  objectPuts: {
    value: 3_500,
    status: 'documented',
    source: 'https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html',
  },
  // vLLM's default of `--max-num-seqs` depends on the GPU and the release; this is that of many.
  sequencesOfCopy: { value: 256, status: 'assumed', source: 'https://docs.vllm.ai/en/latest/configuration/engine_args.html' },
} as const satisfies Record<string, AwsLimit>;
