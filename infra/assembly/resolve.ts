import { createHash } from 'node:crypto';
import type { Resource, Stack } from './read-assembly.ts';

export const REGION = 'us-east-1';
export const ACCOUNT_ID = '000000000000';

const PROVIDER = `cognito-idp.${REGION}.amazonaws.com`;
/** Issuer of a user pool's tokens, without `/<pool id>`. */
export const PROVIDER_URL = `https://${PROVIDER}`;

const POOL_SUFFIX_LENGTH = 9;
const CLIENT_ID_LENGTH = 26;

/** Value of `Fn::GetAtt: [api, RootResourceId]`. */
export const ROOT_RESOURCE_ID = 'root';

/** Resolves the intrinsics in a property's value. */
export type Resolve = (stack: Stack, value: unknown) => unknown;

const MAX_DEPTH = 64;

// Properties that set a resource's name. Other resources are named after their stack and logical id.
const NAME_PROPERTIES = [
  'FunctionName',
  'TableName',
  'BucketName',
  'QueueName',
  'LogGroupName',
  'RoleName',
  'AlarmName',
  'RuleName',
  'Name',
];

const ARN_PARTS: Readonly<Record<string, (name: string) => string>> = {
  'AWS::Lambda::Function': (name) => `lambda:${REGION}:${ACCOUNT_ID}:function:${name}`,
  'AWS::DynamoDB::GlobalTable': (name) => `dynamodb:${REGION}:${ACCOUNT_ID}:table/${name}`,
  'AWS::S3::Bucket': (name) => `s3:::${name}`,
  'AWS::Cognito::UserPool': (name) => `cognito-idp:${REGION}:${ACCOUNT_ID}:userpool/${name}`,
  'AWS::SQS::Queue': (name) => `sqs:${REGION}:${ACCOUNT_ID}:${name}`,
  'AWS::Logs::LogGroup': (name) => `logs:${REGION}:${ACCOUNT_ID}:log-group:${name}:*`,
  'AWS::Events::Rule': (name) => `events:${REGION}:${ACCOUNT_ID}:rule/${name}`,
  'AWS::IAM::Role': (name) => `iam::${ACCOUNT_ID}:role/${name}`,
  'AWS::KMS::Key': (name) => `kms:${REGION}:${ACCOUNT_ID}:key/${name}`,
};

/**
 * Creates the resolver of an assembly's stacks. It supports Ref, Fn::GetAtt, Fn::Join, Fn::Sub, Fn::Select, Fn::Split
 * and Fn::ImportValue, and the pseudo parameters (account 000000000000 in us-east-1).
 * @returns a function that throws an Error naming the stack and an intrinsic that is not supported
 */
export const createResolver = (stacks: readonly Stack[]): Resolve => {
  const resolve = (stack: Stack, value: unknown, depth = 0): unknown => {
    if (depth > MAX_DEPTH) throw new Error(`${stack.name}: intrinsics are nested deeper than ${MAX_DEPTH}`);
    if (Array.isArray(value)) return value.map((item) => resolve(stack, item, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    const [first, ...others] = Object.entries(value);
    if (first && others.length === 0 && (first[0] === 'Ref' || first[0].startsWith('Fn::'))) {
      return intrinsic(stack, first[0], first[1], depth + 1);
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(stack, item, depth + 1)]));
  };

  const intrinsic = (stack: Stack, name: string, argument: unknown, depth: number): unknown => {
    if (name === 'Fn::Sub') return substitute(stack, argument, depth);
    const input = resolve(stack, argument, depth);
    switch (name) {
      case 'Ref':
        return reference(stack, String(input), depth);
      case 'Fn::GetAtt': {
        const [id, ...attribute] = Array.isArray(input) ? input.map(String) : String(input).split('.');
        return attributeOf(stack, id ?? '', attribute.join('.'), depth);
      }
      case 'Fn::Join': {
        const [separator, parts] = pair(stack, name, input);
        return list(stack, name, parts).map(String).join(String(separator));
      }
      case 'Fn::Select': {
        const [index, items] = pair(stack, name, input);
        return list(stack, name, items)[Number(index)];
      }
      case 'Fn::Split': {
        const [separator, text] = pair(stack, name, input);
        return String(text).split(String(separator));
      }
      case 'Fn::ImportValue':
        return imported(stack, String(input), depth);
      default:
        throw new Error(`${stack.name}: the local run does not support the intrinsic ${name}`);
    }
  };

  const reference = (stack: Stack, id: string, depth: number): unknown => {
    const pseudo = pseudoParameter(stack, id);
    if (pseudo !== undefined) return pseudo;
    if (stack.parameters.has(id)) return resolve(stack, stack.parameters.get(id), depth);
    const resource = find(stack, id);
    if (resource.type === 'AWS::ApiGateway::RestApi') return apiId(stack, id);
    if (resource.type === 'AWS::ApiGateway::Resource') return id;
    if (resource.type === 'AWS::ApiGateway::Stage') return resolve(stack, resource.properties.StageName, depth);
    if (resource.type === 'AWS::Cognito::UserPoolClient') return clientId(stack, id);
    if (resource.type === 'AWS::Lambda::Alias') return aliasArn(stack, resource, depth);
    const name = nameOf(stack, id, resource, depth);
    return resource.type === 'AWS::SQS::Queue' ? `https://sqs.${REGION}.amazonaws.com/${ACCOUNT_ID}/${name}` : name;
  };

  const aliasArn = (stack: Stack, { properties }: Resource, depth: number): string =>
    `arn:aws:lambda:${REGION}:${ACCOUNT_ID}:function:${resolve(stack, properties.FunctionName, depth)}:${resolve(stack, properties.Name, depth)}`;

  const attributeOf = (stack: Stack, id: string, attribute: string, depth: number): unknown => {
    const resource = find(stack, id);
    const arn = ARN_PARTS[resource.type];
    if (resource.type === 'AWS::ApiGateway::RestApi' && attribute === 'RootResourceId') return ROOT_RESOURCE_ID;
    const isUserPool = resource.type === 'AWS::Cognito::UserPool';
    if (isUserPool && attribute === 'ProviderName') return `${PROVIDER}/${poolId(stack, id)}`;
    if (isUserPool && attribute === 'ProviderURL') return `${PROVIDER_URL}/${poolId(stack, id)}`;
    if (arn && attribute === 'Arn') return `arn:aws:${arn(nameOf(stack, id, resource, depth))}`;
    if (resource.type === 'AWS::SQS::Queue' && attribute === 'QueueName') return nameOf(stack, id, resource, depth);
    if (arn && attribute === 'StreamArn') return `arn:aws:${arn(nameOf(stack, id, resource, depth))}/stream/local`;
    throw new Error(`${stack.name}: the local run does not support the attribute ${attribute} of ${resource.type} ${id}`);
  };

  const nameOf = (stack: Stack, id: string, resource: Resource, depth: number): string => {
    if (resource.type === 'AWS::Cognito::UserPool') return poolId(stack, id);
    const given = NAME_PROPERTIES.map((property) => resource.properties[property]).find((value) => value !== undefined);
    if (given !== undefined) return String(resolve(stack, given, depth));
    // Bucket names are lower case.
    return resource.type === 'AWS::S3::Bucket' ? `${stack.name}-${id}`.toLowerCase() : `${stack.name}-${id}`;
  };

  const substitute = (stack: Stack, argument: unknown, depth: number): string => {
    const [template, variables] = Array.isArray(argument) ? argument : [argument, {}];
    return String(template).replace(/\$\{(!?)([^}]+)\}/g, (_match, literal: string, expression: string) => {
      if (literal) return `\${${expression}}`;
      const own = Object.entries(variables ?? {}).find(([key]) => key === expression);
      if (own) return String(resolve(stack, own[1], depth));
      const [id, ...attribute] = expression.split('.');
      return String(attribute.length > 0 ? attributeOf(stack, id ?? '', attribute.join('.'), depth) : reference(stack, expression, depth));
    });
  };

  const imported = (stack: Stack, name: string, depth: number): unknown => {
    const exporter = stacks.find((candidate) => candidate.exports.has(name));
    if (!exporter) throw new Error(`${stack.name} imports ${name}, which no stack exports`);
    return resolve(exporter, exporter.exports.get(name), depth);
  };

  return (stack, value) => resolve(stack, value);
};

const find = (stack: Stack, id: string): Resource => {
  const resource = stack.resources.get(id);
  if (!resource) throw new Error(`${stack.name}: the template refers to ${id}, which it does not define`);
  return resource;
};

const pseudoParameter = (stack: Stack, name: string): unknown => {
  switch (name) {
    case 'AWS::Region':
      return REGION;
    case 'AWS::AccountId':
      return ACCOUNT_ID;
    case 'AWS::Partition':
      return 'aws';
    case 'AWS::StackName':
      return stack.name;
    case 'AWS::StackId':
      return `arn:aws:cloudformation:${REGION}:${ACCOUNT_ID}:stack/${stack.name}/${uuidOf(stack.name)}`;
    case 'AWS::URLSuffix':
      return 'amazonaws.com';
    default:
      return undefined;
  }
};

const uuidOf = (text: string): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');

const apiId = (stack: Stack, id: string): string => createHash('sha256').update(`${stack.name}/${id}`).digest('hex').slice(0, 10);

// AWS's ids have this format.
const poolId = (stack: Stack, id: string): string => `${REGION}_${base36Hash(`${stack.name}/${id}`).slice(0, POOL_SUFFIX_LENGTH)}`;
const clientId = (stack: Stack, id: string): string => base36Hash(`${stack.name}/${id}`).slice(0, CLIENT_ID_LENGTH);

// Lower-case letters and digits, as in AWS's ids.
const base36Hash = (text: string): string => BigInt(`0x${createHash('sha256').update(text).digest('hex')}`).toString(36);

const pair = (stack: Stack, name: string, value: unknown): [unknown, unknown] => {
  if (Array.isArray(value) && value.length === 2) return [value[0], value[1]];
  throw new Error(`${stack.name}: ${name} takes two arguments`);
};

const list = (stack: Stack, name: string, value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  throw new Error(`${stack.name}: ${name} takes a list`);
};
