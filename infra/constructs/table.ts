import { RemovalPolicy } from 'aws-cdk-lib';
import { type Attribute, AttributeType, Billing, type CfnGlobalTable, ProjectionType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';

type Action = 'GetItem' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'Query';

export interface TableProps {
  /** The environment variable that names the table to functions that may use it. */
  variable: string;
  partitionKey: string;
  sortKey?: string;
  /** An index of keys alone on this attribute, of the same name. */
  keysOnlyIndex?: { name: string; attribute: string };
  /** The attribute that says when an item is done for, in seconds since the epoch; DynamoDB removes it some hours or days later. */
  timeToLive?: string;
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
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
      globalSecondaryIndexes: props.keysOnlyIndex
        ? [
            {
              indexName: props.keysOnlyIndex.name,
              partitionKey: text(props.keysOnlyIndex.attribute),
              projectionType: ProjectionType.KEYS_ONLY,
            },
          ]
        : [],
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

  /** Gives a function queries of an index. */
  grantIndex(grantee: LambdaFunction, index: string): void {
    grantee.addToRolePolicy(new PolicyStatement({ actions: ['dynamodb:Query'], resources: [`${this.table.tableArn}/index/${index}`] }));
    grantee.addEnvironment(this.#variable, this.table.tableName);
  }
}
