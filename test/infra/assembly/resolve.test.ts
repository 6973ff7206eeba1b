import { describe, expect, test } from '@jest/globals';
import type { Stack } from '../../../infra/assembly/read-assembly.ts';
import { createResolver } from '../../../infra/assembly/resolve.ts';

const stack = (name: string, resources: Stack['resources'], exports: Stack['exports'] = new Map()): Stack => ({
  name,
  isProtected: false,
  resources,
  exports,
  outputs: new Map(),
  parameters: new Map([['Size', 'large']]),
  assets: new Map(),
});

const data = stack(
  'app-data',
  new Map([['Keys', { type: 'AWS::DynamoDB::GlobalTable', properties: {} }]]),
  new Map<string, unknown>([['app-data:KeysArn', { 'Fn::GetAtt': ['Keys', 'Arn'] }]]),
);
const host = stack(
  'app-serverless',
  new Map([
    ['Fn', { type: 'AWS::Lambda::Function', properties: {} }],
    ['Named', { type: 'AWS::Lambda::Function', properties: { FunctionName: { 'Fn::Join': ['-', ['my', { Ref: 'AWS::Region' }]] } } }],
    ['Api', { type: 'AWS::ApiGateway::RestApi', properties: {} }],
    ['Files', { type: 'AWS::S3::Bucket', properties: {} }],
    ['Other', { type: 'AWS::SNS::Topic', properties: {} }],
  ]),
);
const resolve = createResolver([data, host]);
const resolved = (value: unknown) => resolve(host, value);

describe('intrinsics', () => {
  test.each([
    ['a pseudo parameter', { Ref: 'AWS::AccountId' }, '000000000000'],
    ['a parameter', { Ref: 'Size' }, 'large'],
    ['a resource by its stack and logical id', { Ref: 'Fn' }, 'app-serverless-Fn'],
    ['a resource by its own name', { Ref: 'Named' }, 'my-us-east-1'],
    ['an ARN', { 'Fn::GetAtt': ['Fn', 'Arn'] }, 'arn:aws:lambda:us-east-1:000000000000:function:app-serverless-Fn'],
    ['a GetAtt in one text', { 'Fn::GetAtt': 'Api.RootResourceId' }, 'root'],
    ['a bucket by a name without capitals', { Ref: 'Files' }, 'app-serverless-files'],
    ['the ARN of a bucket', { 'Fn::GetAtt': ['Files', 'Arn'] }, 'arn:aws:s3:::app-serverless-files'],
    ['a value of another stack', { 'Fn::ImportValue': 'app-data:KeysArn' }, 'arn:aws:dynamodb:us-east-1:000000000000:table/app-data-Keys'],
    ['a Join of intrinsics', { 'Fn::Join': ['/', ['a', { Ref: 'AWS::Partition' }]] }, 'a/aws'],
    ['a Select of a Split', { 'Fn::Select': [1, { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
    [
      'a Sub',
      { 'Fn::Sub': `\${AWS::StackName}.\${Fn.Arn}.\${!Keep}` },
      `app-serverless.arn:aws:lambda:us-east-1:000000000000:function:app-serverless-Fn.\${Keep}`,
    ],
    ['a Sub with variables', { 'Fn::Sub': [`\${a}-\${AWS::URLSuffix}`, { a: { Ref: 'Size' } }] }, 'large-amazonaws.com'],
  ])('resolve %s', (_name, value, expected) => {
    expect(resolved(value)).toBe(expected);
  });

  test('resolve AWS::StackId to a stable id, different for each stack', () => {
    const id = { Ref: 'AWS::StackId' };
    expect(resolved(id)).toMatch(
      /^arn:aws:cloudformation:us-east-1:000000000000:stack\/app-serverless\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    );
    expect(resolved(id)).toBe(resolved(id));
    expect(resolve(data, id)).not.toBe(resolved(id));
  });

  test('are resolved at any depth; other values stay unchanged', () => {
    expect(resolved({ a: [{ b: { Ref: 'Size' } }], n: 1, none: null })).toEqual({ a: [{ b: 'large' }], n: 1, none: null });
  });

  test('throws an error with the stack and the intrinsic if the intrinsic is unsupported', () => {
    expect(() => resolved({ 'Fn::Base64': 'x' })).toThrow('app-serverless: the local run does not support the intrinsic Fn::Base64');
    expect(() => resolved({ Ref: 'Nothing' })).toThrow('app-serverless: the template refers to Nothing');
    expect(() => resolved({ 'Fn::GetAtt': ['Other', 'TopicName'] })).toThrow('attribute TopicName of AWS::SNS::Topic Other');
    expect(() => resolved({ 'Fn::ImportValue': 'gone' })).toThrow('imports gone, which no stack exports');
  });
});
