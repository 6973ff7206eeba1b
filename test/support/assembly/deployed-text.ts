import type { CloudFormationStackArtifact } from 'aws-cdk-lib/cx-api';

export interface Resource {
  Type: string;
  Properties?: Record<string, unknown>;
}

interface Output {
  Value: unknown;
  Export?: { Name: string };
}

// CloudFormation adds such a suffix to the names of a stack and a resource.
const SUFFIX = '-ABCDEF1234567';
const ACCOUNT = '123456789012';
const LONGEST_NAMES: Readonly<Record<string, number>> = {
  // These are ids.
  'AWS::Cognito::UserPool': 24,
  'AWS::Cognito::UserPoolClient': 26,
  'AWS::IAM::Role': 64,
  'AWS::Lambda::Function': 64,
  'AWS::S3::Bucket': 63,
  'AWS::SQS::Queue': 80,
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/**
 * Evaluates what templates say as CloudFormation does in a region, with names of the length that it generates. ARNs
 * have the shape that most services have, and a queue's reference is its URL.
 */
export const createEvaluator = (stacks: readonly CloudFormationStackArtifact[], region: string) => {
  const isGovCloud = region.startsWith('us-gov-');
  const partition = isGovCloud ? 'aws-us-gov' : 'aws';
  const exported = new Map<string, () => unknown>();

  const resourcesOf = ({ template }: CloudFormationStackArtifact): Record<string, Resource> => template.Resources;

  const nameOf = (stack: CloudFormationStackArtifact, id: string): string => {
    const { Type, Properties = {} } = resourcesOf(stack)[id] as Resource;
    const given = Object.entries(Properties).find(([key]) => key === `${Type.split('::').at(-1)}Name`)?.[1];
    return typeof given === 'string' ? given : `${stack.stackName}-${id}${SUFFIX}`.slice(0, LONGEST_NAMES[Type]);
  };

  const referenceTo = (stack: CloudFormationStackArtifact, id: string): string => {
    const pseudo: Record<string, string> = {
      'AWS::AccountId': ACCOUNT,
      'AWS::Partition': partition,
      'AWS::Region': region,
      'AWS::StackName': stack.stackName,
      'AWS::StackId': `arn:${partition}:cloudformation:${region}:${ACCOUNT}:stack/${stack.stackName}/${crypto.randomUUID()}`,
      'AWS::URLSuffix': 'amazonaws.com',
    };
    if (pseudo[id] !== undefined) return pseudo[id];
    const name = nameOf(stack, id);
    return resourcesOf(stack)[id]?.Type === 'AWS::SQS::Queue' ? `https://sqs.${region}.amazonaws.com/${ACCOUNT}/${name}` : name;
  };

  const attributeOf = (stack: CloudFormationStackArtifact, id: string, attribute: string): string => {
    const service = resourcesOf(stack)[id]?.Type.split('::')[1]?.toLowerCase();
    return attribute.endsWith('Name') ? nameOf(stack, id) : `arn:${partition}:${service}:${region}:${ACCOUNT}:${nameOf(stack, id)}`;
  };

  const evaluate = (stack: CloudFormationStackArtifact, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((each) => evaluate(stack, each));
    if (!isObject(value)) return value;
    const [[key, inner] = []] = Object.entries(value);
    if (key === 'Ref') return referenceTo(stack, String(inner));
    if (key === 'Fn::GetAtt') return attributeOf(stack, ...(inner as [string, string]));
    if (key === 'Fn::ImportValue') return exported.get(String(inner))?.();
    if (key === 'Fn::Join') {
      const [separator, parts] = inner as [string, unknown[]];
      return parts.map((part) => evaluate(stack, part)).join(separator);
    }
    if (key?.startsWith('Fn::')) throw new Error(`${stack.stackName} uses ${key}, which nothing evaluates here.`);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, evaluate(stack, each)]));
  };

  for (const stack of stacks)
    for (const { Value, Export } of Object.values<Output>(stack.template.Outputs ?? {}))
      if (Export) exported.set(Export.Name, () => evaluate(stack, Value));
  return evaluate;
};
