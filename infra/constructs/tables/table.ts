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
import { ADOPTED } from '../../config/adopted-tables.ts';
import type { WarmTable } from '../../config/warm-throughput.ts';
import { acknowledgeUnexercised } from '../functions/acknowledge-unexercised.ts';
import type { NodeFunction } from '../functions/node-function.ts';

type Action = 'GetItem' | 'BatchGetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'ConditionCheckItem' | 'Query';

interface TableProps {
  /** The environment variable with the table's name, for functions that can use it. */
  variable: string;
  partitionKey: string;
  sortKey?: string;
  /**
   * Keys-only indexes, each on one attribute. A write that does not change that attribute does not write to the
   * index.
   */
  keysOnlyIndexes?: readonly { name: string; attribute: string }[];
  /**
   * The attribute with an item's expiry time, in seconds since the epoch. DynamoDB deletes the item some hours or
   * days later.
   */
  timeToLive?: string;
  /** The stream of changes, if the table has one: with the keys of each changed item, or with the new item. */
  stream?: 'keys' | 'new';
  /** The throughput that the table serves at once; default: DynamoDB's. */
  warm?: WarmTable | undefined;
  /**
   * A table that was restored from a backup of this one, and is used instead of it. This one stays, so that its
   * exports and its data do.
   */
  adopted?: { name: string; streamArn?: string | undefined } | undefined;
}

// Other constructs need no more of a table, which may have been created elsewhere.
interface UsedTable {
  tableArn: string;
  tableName: string;
  tableStreamArn?: string | undefined;
}

const STREAM_VIEWS = { keys: StreamViewType.KEYS_ONLY, new: StreamViewType.NEW_IMAGE } as const;

const text = (name: string): Attribute => ({ name, type: AttributeType.STRING });

/** A table for one purpose: on-demand capacity, recovery to any second of the last 35 days, protected from deletion. */
export class Table extends Construct {
  /** The table that is used. */
  readonly table: UsedTable;
  readonly #variable: string;

  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id);
    this.#variable = props.variable;
    const created = new TableV2(this, 'Table', {
      partitionKey: text(props.partitionKey),
      ...(props.sortKey && { sortKey: text(props.sortKey) }),
      ...(props.timeToLive && { timeToLiveAttribute: props.timeToLive }),
      ...(props.stream && { dynamoStream: STREAM_VIEWS[props.stream] }),
      billing: Billing.onDemand(),
      ...(props.warm && {
        warmThroughput: { readUnitsPerSecond: props.warm.readsPerSecond, writeUnitsPerSecond: props.warm.writesPerSecond },
      }),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      globalSecondaryIndexes: (props.keysOnlyIndexes ?? []).map(({ name, attribute }) => ({
        indexName: name,
        partitionKey: text(attribute),
        projectionType: ProjectionType.KEYS_ONLY,
      })),
    });
    // A fixed logical id, because CloudFormation replaces a resource whose logical id changes.
    const resource = created.node.defaultChild as CfnGlobalTable;
    resource.overrideLogicalId(id);
    this.table = props.adopted ? this.#adopt(created, resource, props.adopted) : created;
  }

  #adopt(created: TableV2, resource: CfnGlobalTable, { name, streamArn }: NonNullable<TableProps['adopted']>): UsedTable {
    resource.addMetadata(ADOPTED, name);
    // Other stacks still import these values until they are deployed, and an export that is in use can't be removed.
    const stack = Stack.of(this);
    for (const value of [created.tableArn, created.tableName, created.tableStreamArn]) if (value !== undefined) stack.exportValue(value);
    return TableV2.fromTableAttributes(this, 'Adopted', { tableName: name, ...(streamArn !== undefined && { tableStreamArn: streamArn }) });
  }

  /** Lets a function use these actions on the table, and gives it the table's name. */
  grant(grantee: LambdaFunction, ...actions: Action[]): void {
    grantee.addToRolePolicy(
      new PolicyStatement({ actions: actions.map((action) => `dynamodb:${action}`), resources: [this.table.tableArn] }),
    );
    grantee.addEnvironment(this.#variable, this.table.tableName);
  }

  /**
   * Lets a function add items, but only in transactions, and gives it the table's name. No policy can require that an
   * item is new: whoever has this permission can also replace an item. The store's condition prevents that.
   */
  grantAdd(grantee: LambdaFunction): void {
    grantee.addToRolePolicy(
      new PolicyStatement({
        actions: ['dynamodb:PutItem'],
        resources: [this.table.tableArn],
        conditions: { 'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] } },
      }),
    );
    grantee.addEnvironment(this.#variable, this.table.tableName);
  }

  /** The stream of a table that has one. */
  get streamArn(): string {
    const { tableStreamArn } = this.table;
    if (!tableStreamArn) throw new Error(`${this.node.path} has no stream.`);
    return tableStreamArn;
  }

  /** Lets a function read the table's stream. */
  grantStream(grantee: NodeFunction): void {
    const actions = ['DescribeStream', 'GetRecords', 'GetShardIterator'].map((action) => `dynamodb:${action}`);
    grantee.addToRolePolicy(new PolicyStatement({ actions, resources: [this.streamArn] }));
    // AWS evaluates this action on no resource, so a policy that names a stream doesn't allow it.
    grantee.addToRolePolicy(new PolicyStatement({ actions: ['dynamodb:ListStreams'], resources: ['*'] }));
    acknowledgeUnexercised(
      grantee.role,
      { actions: [...actions, 'dynamodb:ListStreams'] },
      'Lambda reads the stream with the role of the function.',
    );
    Validations.of(grantee.role as NonNullable<typeof grantee.role>).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
      reason: 'ListStreams does not support resource-level permissions. Lambda needs it to read a stream; it returns names only.',
    });
  }

  /** Lets a function query an index. */
  grantIndex(grantee: LambdaFunction, index: string): void {
    grantee.addToRolePolicy(new PolicyStatement({ actions: ['dynamodb:Query'], resources: [`${this.table.tableArn}/index/${index}`] }));
    grantee.addEnvironment(this.#variable, this.table.tableName);
  }
}
