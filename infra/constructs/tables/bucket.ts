import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  BucketEncryption,
  Bucket as CdkBucket,
  type CfnBucket,
  HttpMethods,
  type LifecycleRule,
  ObjectLockRetention,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { acknowledgeWildcards } from '../functions/acknowledge-wildcards.ts';
import type { NodeFunction } from '../functions/node-function.ts';

const KEEP_REPLACED = Duration.days(30);
const ABORT_UPLOADS = Duration.days(1);

interface BucketProps {
  /** The environment variable with the bucket's name, for functions that can use it. */
  variable: string;
  /**
   * Object Lock: nobody can delete an object for so many days, in the mode `governance` except with a special
   * permission.
   */
  lock?: { days: number; mode: keyof typeof RETENTIONS };
  /**
   * Objects are deleted for good, so many days after they were stored as their tag says: no older versions are kept.
   * Without the tag, the longest time.
   */
  expiry?: { tag: string; days: readonly number[] };
  /**
   * Objects under this prefix are deleted so many days after they were stored. What is deleted is deleted for good:
   * no older versions are kept.
   */
  temporary?: { prefix: string; days: number };
  /** Pages of any origin can send signed forms to it, like requests to the hosts. */
  takesForms?: boolean;
}

const RETENTIONS = { governance: ObjectLockRetention.governance, compliance: ObjectLockRetention.compliance };

const expiryRules = ({ tag, days }: NonNullable<BucketProps['expiry']>): LifecycleRule[] => [
  { expiration: Duration.days(Math.max(...days)) },
  ...days.map((count) => ({ tagFilters: { [tag]: String(count) }, expiration: Duration.days(count) })),
];

type ObjectAction = 's3:GetObject' | 's3:PutObject' | 's3:PutObjectTagging' | 's3:DeleteObject';

/**
 * A private, encrypted, TLS-only bucket for one purpose. Replaced or deleted objects can be restored for 30 days,
 * locked ones for as long as they exist, and those of a bucket where objects expire not at all.
 */
export class Bucket extends Construct {
  readonly bucket: CdkBucket;
  readonly #variable: string;

  constructor(scope: Construct, id: string, { variable, lock, expiry, temporary, takesForms = false }: BucketProps) {
    const isVersioned = !expiry && !temporary;
    super(scope, id);
    this.#variable = variable;
    this.bucket = new CdkBucket(this, 'Bucket', {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      versioned: isVersioned,
      ...(takesForms && { cors: [{ allowedMethods: [HttpMethods.POST], allowedOrigins: ['*'] }] }),
      ...(lock && { objectLockDefaultRetention: RETENTIONS[lock.mode](Duration.days(lock.days)) }),
      lifecycleRules: [
        { ...(!lock && isVersioned && { noncurrentVersionExpiration: KEEP_REPLACED }), abortIncompleteMultipartUploadAfter: ABORT_UPLOADS },
        ...(expiry ? expiryRules(expiry) : []),
        ...(temporary ? [{ prefix: temporary.prefix, expiration: Duration.days(temporary.days) }] : []),
      ],
      removalPolicy: RemovalPolicy.RETAIN,
    });
    // A fixed logical id, because CloudFormation replaces a resource whose logical id changes.
    (this.bucket.node.defaultChild as CfnBucket).overrideLogicalId(id);
    Validations.of(this.bucket).acknowledge({
      id: 'AwsSolutions::AwsSolutions-S1',
      reason:
        'Only this service reads it, and only operators write to it. CloudTrail records that, and access logs would need another bucket.',
    });
  }

  /** Lets a function of another stack read every object, and gives it the bucket's name. */
  grantRead(grantee: NodeFunction): void {
    this.#grant(
      grantee,
      ['s3:GetObject'],
      'Objects are uploaded while the service runs, under keys derived from their content, so the function can read the whole bucket.',
    );
  }

  /** Lets a function of another stack store objects, and gives it the bucket's name. */
  grantAdd(grantee: NodeFunction): void {
    this.#grant(grantee, ['s3:PutObject'], 'The function stores objects under keys that are not known before.');
  }

  /**
   * Lets a function of another stack read every object, and store objects in one or several parts, and gives it the
   * bucket's name.
   */
  grantReadAndUpload(grantee: NodeFunction): void {
    this.#grant(
      grantee,
      ['s3:GetObject', 's3:PutObject', 's3:AbortMultipartUpload'],
      'The function stores objects under keys that are not known before, and reads them again.',
    );
  }

  /**
   * Lets a function of another stack read, store, tag or delete objects under a prefix, and gives it the bucket's
   * name. @param prefix such as `kept/`
   */
  grantUnder(grantee: NodeFunction, prefix: string, ...actions: readonly ObjectAction[]): void {
    grantee.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources: [`${this.#exportedArn()}/${prefix}*`] }));
    grantee.addEnvironment(this.#variable, this.bucket.bucketName);
    acknowledgeWildcards(grantee.role, [`${this.#exportName()}/${prefix}*`], 'Files are created while the service runs.');
  }

  /**
   * Lets a function of another stack list the objects under these prefixes, and gives it the bucket's name. @param
   * starts of prefixes, such as `org_`
   */
  grantList(grantee: NodeFunction, ...starts: readonly string[]): void {
    grantee.addToRolePolicy(this.#listing(...starts));
    grantee.addEnvironment(this.#variable, this.bucket.bucketName);
  }

  /**
   * Lets a role of another stack list and read the objects under these prefixes. @param starts of prefixes, such as
   * `org_`
   */
  grantReadPrefixes(role: Role, ...starts: readonly string[]): void {
    const keys = starts.map((start) => `${start}*/*`);
    role.addToPolicy(this.#listing(...starts));
    role.addToPolicy(new PolicyStatement({ actions: ['s3:GetObject'], resources: keys.map((key) => `${this.#exportedArn()}/${key}`) }));
    const resources = keys.map((key) => `${this.#exportName()}/${key}`);
    acknowledgeWildcards(role, resources, 'Organizations and their files are created while the service runs.');
  }

  /** Gives a function of another stack the bucket's name, without any permission. */
  tellName(grantee: NodeFunction): void {
    grantee.addEnvironment(this.#variable, this.bucket.bucketName);
  }

  #listing(...starts: readonly string[]): PolicyStatement {
    const prefixes = starts.map((start) => `${start}*/*`);
    return new PolicyStatement({
      actions: ['s3:ListBucket'],
      resources: [this.#exportedArn()],
      conditions: { StringLike: { 's3:prefix': prefixes.length === 1 ? prefixes[0] : prefixes } },
    });
  }

  #exportedArn(): string {
    return Stack.of(this).exportValue(this.bucket.bucketArn);
  }

  /** The name of the export, as cdk-nag shows it. */
  #exportName(): string {
    const { 'Fn::ImportValue': name } = Stack.of(this).resolve(this.#exportedArn()) as { 'Fn::ImportValue': string };
    return name;
  }

  #grant(grantee: NodeFunction, actions: readonly string[], reason: string): void {
    grantee.addToRolePolicy(new PolicyStatement({ actions: [...actions], resources: [`${this.#exportedArn()}/*`] }));
    grantee.addEnvironment(this.#variable, this.bucket.bucketName);
    acknowledgeWildcards(grantee.role, [`${this.#exportName()}/*`], reason);
  }
}
