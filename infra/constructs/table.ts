import { RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  Billing,
  type CfnGlobalTable,
  ProjectionType,
  StreamViewType,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { NodeFunction } from './node-function.ts';

type Action = 'GetItem' | 'BatchGetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'ConditionCheckItem' | 'Query';

export interface TableProps {
  /** The environment variable that names the table to functions that may use it. */
  variable: string;
  partitionKey: string;
  sortKey?: string;
  /** Indexes of keys alone, each on one attribute: a write that does not change that attribute costs nothing there. */
  keysOnlyIndexes?: readonly { name: string; attribute: string }[];
  /** The attribute that says when an item is done for, in seconds since the epoch; DynamoDB removes it some hours or days later. */
  timeToLive?: string;
  /** Whether it has a stream of changes, of their keys alone. */
  keysOnlyStream?: boolean;
}

const text = (name: string): Attribute => ({ name, type: AttributeType.STRING });

/** A table of one purpose: on demand, recoverable to any second of 35 days, protected from deletion. */
export class Table extends Construct {
  readonly table: TableV2;
  readonly #variable: string;

  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id);
    this.#variable = props.variable;
    this.table = new TableV2(this, 'Table', {
      partitionKey: text(props.partitionKey),
      ...(props.sortKey && { sortKey: text(props.sortKey) }),
      ...(props.timeToLive && { timeToLiveAttribute: props.timeToLive }),
      ...(props.keysOnlyStream && { dynamoStream: StreamViewType.KEYS_ONLY }),
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      globalSecondaryIndexes: (props.keysOnlyIndexes ?? []).map(({ name, attribute }) => ({
        indexName: name,
        partitionKey: text(attribute),
        projectionType: ProjectionType.KEYS_ONLY,
      })),
    });
    // The logical id is the table's identity: with this one, no change of the construct tree can replace it.
    (this.table.node.defaultChild as CfnGlobalTable).overrideLogicalId(id);
  }

  /** Gives a function these actions on the table, and its name. */
  grant(grantee: LambdaFunction, ...actions: Action[]): void {
    grantee.addToRolePolicy(
      new PolicyStatement({ actions: actions.map((action) => `dynamodb:${action}`), resources: [this.table.tableArn] }),
    );
    grantee.addEnvironment(this.#variable, this.table.tableName);
  }

  /** The stream of a table that has one. */
  get streamArn(): string {
    const { tableStreamArn } = this.table;
    if (!tableStreamArn) throw new Error(`${this.node.path} has no stream.`);
    return tableStreamArn;
  }

  /** Lets a function of another stack read the table's stream. */
  grantStream(grantee: NodeFunction): void {
    const stack = Stack.of(this);
    const tableArn = stack.exportValue(this.table.tableArn);
    const actions = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map((action) => `dynamodb:${action}`);
    grantee.addToRolePolicy(new PolicyStatement({ actions, resources: [`${tableArn}/stream/*`] }));
    const { 'Fn::ImportValue': exportName } = stack.resolve(tableArn) as { 'Fn::ImportValue': string };
    Validations.of(grantee.role as NonNullable<typeof grantee.role>).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::${exportName}/stream/*]`,
      reason: 'To list streams is allowed for all streams of a table or for none; this table has one.',
    });
  }

  /** Gives a function queries of an index. */
  grantIndex(grantee: LambdaFunction, index: string): void {
    grantee.addToRolePolicy(new PolicyStatement({ actions: ['dynamodb:Query'], resources: [`${this.table.tableArn}/index/${index}`] }));
    grantee.addEnvironment(this.#variable, this.table.tableName);
  }
}
