import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import type { Stack } from '../../assembly/read-assembly.ts';
import { ADOPTED } from '../../config/adopted-tables.ts';
import type { StackResource } from '../deploy/stack-resources.ts';
import { failure, ok, type Row } from './row.ts';

/** A table as its template asks for it. */
export interface WantedTable {
  /** The name of the table that is used: its own, or one that was restored and adopted. */
  name: string;
  timeToLiveAttribute: string | undefined;
  hasStream: boolean;
}

/** The tables of the data stack, by the names that they were deployed with. */
export const wantedTables = (stacks: readonly Stack[], resources: readonly StackResource[]): WantedTable[] =>
  stacks.flatMap((stack) =>
    [...stack.resources].flatMap(([logicalId, { type, properties, metadata }]) => {
      if (type !== 'AWS::DynamoDB::GlobalTable') return [];
      const name = metadata?.[ADOPTED] ?? resources.find((resource) => resource.logicalId === logicalId)?.name;
      const { AttributeName } = (properties.TimeToLiveSpecification ?? {}) as { AttributeName?: string };
      return name === undefined
        ? []
        : [{ name: String(name), timeToLiveAttribute: AttributeName, hasStream: properties.StreamSpecification !== undefined }];
    }),
  );

// A restore copies none of these settings.
const missingSettingsOf = async (
  client: DynamoDBClient,
  { name: TableName, timeToLiveAttribute, hasStream }: WantedTable,
): Promise<string[]> => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const { ContinuousBackupsDescription: backups } = await client.send(new DescribeContinuousBackupsCommand({ TableName }));
  const { TimeToLiveDescription: expiry } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  const checks: readonly (readonly [boolean, string])[] = [
    [Table?.TableStatus === 'ACTIVE', `is ${Table?.TableStatus}`],
    [Table?.DeletionProtectionEnabled === true, 'can be deleted'],
    [backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED', 'has no point-in-time recovery'],
    [timeToLiveAttribute === undefined || expiry?.AttributeName === timeToLiveAttribute, 'never deletes what has expired'],
    [!hasStream || Table?.StreamSpecification?.StreamEnabled === true, 'has no stream'],
  ];
  return checks.flatMap(([isRight, fault]) => (isRight ? [] : [`${TableName} ${fault}`]));
};

/** Checks that all tables have the protections and settings of the templates. */
export const tablesRow = async (client: DynamoDBClient, tables: readonly WantedTable[]): Promise<Row> => {
  const faults: string[] = [];
  for (const table of tables) faults.push(...(await missingSettingsOf(client, table)));
  if (faults.length === 0) return ok('tables', `${tables.length} with protection, backups, expiry and streams`);
  return failure('tables', faults.join('; '), 'docs/data.md has the command for each setting, under Restore.');
};
