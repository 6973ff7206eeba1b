import {
  CfnResource,
  DefaultTokenResolver,
  type IPostProcessor,
  type IResolvable,
  type IResolveContext,
  Reference,
  Stack,
  StringConcat,
  Tokenization,
} from 'aws-cdk-lib';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';

// Lambda measures the names and values of a function's variables together, as JSON.
const MAX_ENVIRONMENT_BYTES = 4_096;

const LONGEST_REGION = 'ap-southeast-1'.length;
const ACCOUNT = '123456789012'.length;
const UUID = 36;
// CloudFormation adds two dashes and random characters to the names of a stack and a resource.
const RANDOM_SUFFIX = 15;
// The part of an ARN or URL before the name, with the longest partition, region and domain.
const PREFIX_OF_NAME = 'arn:aws-us-gov:cloudformation:ap-southeast-1:123456789012:stack/'.length;

// CloudFormation cuts the names that it generates for these types.
const LONGEST_NAMES: Readonly<Record<string, number>> = {
  'AWS::IAM::Role': 64,
  'AWS::Lambda::Function': 64,
  'AWS::S3::Bucket': 63,
  'AWS::SQS::Queue': 80,
};

// The ids that Cognito gives, by type and attribute.
const USER_POOL_ID = LONGEST_REGION + '_123456789'.length;
const COGNITO_IDS: Readonly<Record<string, number>> = {
  'AWS::Cognito::UserPool.Ref': USER_POOL_ID,
  'AWS::Cognito::UserPool.ProviderURL': 'https://cognito-idp..amazonaws.com.cn/'.length + LONGEST_REGION + USER_POOL_ID,
  'AWS::Cognito::UserPoolClient.Ref': 26,
};

// A reference to these resources is a URL, not a name.
const REFERRED_BY_URL = new Set(['AWS::SQS::Queue']);

const pseudoParameters = (stackName: string): Readonly<Record<string, number>> => ({
  'AWS::AccountId': ACCOUNT,
  'AWS::Partition': 'aws-us-gov'.length,
  'AWS::Region': LONGEST_REGION,
  'AWS::StackId': PREFIX_OF_NAME + stackName.length + UUID,
  'AWS::StackName': stackName.length,
  'AWS::URLSuffix': 'amazonaws.com.cn'.length,
});

// In characters, in a deployed stack.
const longestOf = ({ target, displayName }: Reference): number => {
  const stack = Stack.of(target);
  const pseudo = pseudoParameters(stack.stackName)[displayName];
  if (pseudo !== undefined) return pseudo;
  if (!CfnResource.isCfnResource(target)) throw new Error(`Nothing says how long ${target.node.path}.${displayName} can be.`);
  const { cfnResourceType: type } = target;
  const ofCognito = COGNITO_IDS[`${type}.${displayName}`];
  if (ofCognito !== undefined) return ofCognito;
  const generated = stack.stackName.length + String(stack.resolve(target.logicalId)).length + RANDOM_SUFFIX;
  const name = Math.min(generated, LONGEST_NAMES[type] ?? generated);
  return displayName === 'Ref' && !REFERRED_BY_URL.has(type) ? name : PREFIX_OF_NAME + name;
};

class LongestReferences extends DefaultTokenResolver {
  constructor() {
    super(new StringConcat());
  }

  override resolveToken(token: IResolvable, context: IResolveContext, postProcessor: IPostProcessor): unknown {
    return Reference.isReference(token) ? 'x'.repeat(longestOf(token)) : super.resolveToken(token, context, postProcessor);
  }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Checks that Lambda accepts a function's environment, however long the names are that CloudFormation gives the
 * resources in it.
 * @param title what the error calls the function
 * @returns what is wrong, for a validation of the CDK
 */
export const environmentErrors = (resource: CfnFunction, title: string): string[] => {
  const { variables = {} } = Tokenization.resolve(resource.environment, { scope: resource, resolver: new LongestReferences() }) as {
    variables?: Record<string, string>;
  };
  const bytes = bytesOf(variables);
  if (bytes <= MAX_ENVIRONMENT_BYTES) return [];
  const longest = Object.entries(variables)
    .map(([name, value]) => ({ name, bytes: bytesOf(value) }))
    .sort((one, other) => other.bytes - one.bytes)
    .slice(0, 3)
    .map((variable) => `${variable.name} (${variable.bytes})`)
    .join(', ');
  return [
    `The environment of the function ${title} can have ${bytes} bytes, and Lambda accepts ${MAX_ENVIRONMENT_BYTES}. Shorten the settings that its longest variables are made of: ${longest}.`,
  ];
};
