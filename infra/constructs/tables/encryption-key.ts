import { type CfnResource, type IAspect, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { CfnGlobalTable } from 'aws-cdk-lib/aws-dynamodb';
import { AnyPrincipal, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { CfnTopic } from 'aws-cdk-lib/aws-sns';
import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct, type IConstruct } from 'constructs';
import type { Config } from '../../config/config.ts';

const USE = ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'];
const SEND = ['kms:Decrypt', 'kms:GenerateDataKey*'];

/**
 * A key of the account in KMS, which it retains. As with AWS's own keys of these services, whoever may use a table, a
 * bucket or a queue can use the key through DynamoDB, S3 or SQS, and not otherwise. So no function needs a permission
 * for it.
 */
export class EncryptionKey extends Construct {
  readonly key: Key;

  constructor(scope: Construct, id: string, { config }: { config: Config }) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      alias: config.name,
      description: `Encrypts the data of ${config.name}.`,
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.#allowCallers();
    this.#allowLogs(config);
    this.#allowAlarms();
  }

  #allowCallers(): void {
    const { account, region, urlSuffix } = Stack.of(this);
    const through = (...services: string[]) => ({
      StringEquals: { 'kms:CallerAccount': account, 'kms:ViaService': services.map((service) => `${service}.${region}.${urlSuffix}`) },
    });
    const allow = (sid: string, actions: string[], conditions: object): void => {
      this.key.addToResourcePolicy(new PolicyStatement({ sid, principals: [new AnyPrincipal()], actions, resources: ['*'], conditions }));
    };
    allow('UseThroughServices', USE, through('dynamodb', 's3', 'sqs'));
    // DynamoDB keeps a grant for each table, with which it maintains indexes and backups. Who makes a table creates it.
    allow('GrantToDynamoDb', ['kms:CreateGrant'], {
      ...through('dynamodb'),
      Bool: { 'kms:GrantIsForAWSResource': 'true' },
    });
  }

  #allowLogs({ name }: Config): void {
    const { partition, account, region, urlSuffix } = Stack.of(this);
    const groups = `arn:${partition}:logs:${region}:${account}:log-group:${name}-*`;
    this.key.addToResourcePolicy(
      new PolicyStatement({
        sid: 'EncryptLogs',
        principals: [new ServicePrincipal(`logs.${region}.${urlSuffix}`)],
        actions: USE,
        resources: ['*'],
        conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': groups } },
      }),
    );
  }

  #allowAlarms(): void {
    this.key.addToResourcePolicy(
      new PolicyStatement({
        sid: 'SendAlarms',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: SEND,
        resources: ['*'],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
  }
}

/** Encrypts every table, bucket, queue, log group and topic of an app with one key, so that none is forgotten. */
export class EncryptWith implements IAspect {
  readonly #key: IKey;

  constructor(key: IKey) {
    this.#key = key;
  }

  visit(node: IConstruct): void {
    const { keyArn } = this.#key;
    const set = (resource: CfnResource, values: Record<string, unknown>): void => {
      for (const [path, value] of Object.entries(values)) resource.addPropertyOverride(path, value);
    };
    if (node instanceof CfnGlobalTable)
      set(node, {
        SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
        'Replicas.0.SSESpecification': { KMSMasterKeyId: keyArn },
      });
    else if (node instanceof CfnBucket)
      set(node, {
        'BucketEncryption.ServerSideEncryptionConfiguration': [
          { BucketKeyEnabled: true, ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: keyArn } },
        ],
      });
    else if (node instanceof CfnQueue) {
      node.addPropertyDeletionOverride('SqsManagedSseEnabled');
      set(node, { KmsMasterKeyId: keyArn });
    } else if (node instanceof CfnLogGroup) set(node, { KmsKeyId: keyArn });
    else if (node instanceof CfnTopic) set(node, { KmsMasterKeyId: keyArn });
  }
}
