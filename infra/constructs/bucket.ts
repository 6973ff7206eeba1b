import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { BlockPublicAccess, BucketEncryption, Bucket as CdkBucket, type CfnBucket, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { NodeFunction } from './node-function.ts';

const KEEP_REPLACED = Duration.days(30);
const ABORT_UPLOADS = Duration.days(1);

/** A private, encrypted, TLS-only bucket for one purpose. Replaced or deleted objects can be restored for 30 days. */
export class Bucket extends Construct {
  readonly bucket: CdkBucket;
  readonly #variable: string;

  /** @param props.variable the environment variable with the bucket's name, for functions that can use it */
  constructor(scope: Construct, id: string, props: { variable: string }) {
    super(scope, id);
    this.#variable = props.variable;
    this.bucket = new CdkBucket(this, 'Bucket', {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      versioned: true,
      lifecycleRules: [{ noncurrentVersionExpiration: KEEP_REPLACED, abortIncompleteMultipartUploadAfter: ABORT_UPLOADS }],
      removalPolicy: RemovalPolicy.RETAIN,
    });
    // A fixed logical id, because CloudFormation replaces a resource whose logical id changes.
    (this.bucket.node.defaultChild as CfnBucket).overrideLogicalId(id);
    Validations.of(this.bucket).acknowledge({
      id: 'AwsSolutions::AwsSolutions-S1',
      reason:
        'Only functions of this service read it, and only operators write to it. CloudTrail records that, and access logs would need another bucket.',
    });
  }

  /** Lets a function of another stack read every object, and gives it the bucket's name. */
  grantRead(grantee: NodeFunction): void {
    const stack = Stack.of(this);
    const bucketArn = stack.exportValue(this.bucket.bucketArn);
    grantee.addToRolePolicy(new PolicyStatement({ actions: ['s3:GetObject'], resources: [`${bucketArn}/*`] }));
    grantee.addEnvironment(this.#variable, this.bucket.bucketName);
    const { 'Fn::ImportValue': exportName } = stack.resolve(bucketArn) as { 'Fn::ImportValue': string };
    Validations.of(grantee.role as NonNullable<typeof grantee.role>).acknowledge({
      id: `AwsSolutions::AwsSolutions-IAM5[Resource::${exportName}/*]`,
      reason:
        'Objects are uploaded while the service runs, under keys derived from their content, so the function can read the whole bucket.',
    });
  }
}
