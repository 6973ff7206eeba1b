import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { readAssembly } from '../../../../infra/assembly/read-assembly.ts';
import { deletionOf, leftoversOf } from '../../../../infra/tools/teardown/leftovers.ts';
import { synthesizeWith } from '../../../support/assembly/assembly.ts';
import { allOptions } from '../../../support/assembly/every-option.ts';

test('lists every resource that stays when the stacks are deleted, and how to delete it, with every option', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-leftovers-'));
  await synthesizeWith(allOptions, folder, { 'aws:cdk:bundling-stacks': [] });
  const leftovers = leftoversOf(await readAssembly(folder));
  const types = new Set(leftovers.map(({ type }) => type));
  expect([...types].sort()).toEqual([
    'AWS::ApiGateway::Account',
    'AWS::Cognito::UserPool',
    'AWS::Cognito::UserPoolClient',
    'AWS::DynamoDB::GlobalTable',
    'AWS::IAM::Role',
    'AWS::KMS::Key',
    'AWS::S3::Bucket',
  ]);
  expect(leftovers.filter(({ type }) => type === 'AWS::DynamoDB::GlobalTable')).toHaveLength(12);
  for (const { type } of leftovers) expect(deletionOf(type, 'x').length).toBeGreaterThan(0);
  expect(() => deletionOf('AWS::SQS::Queue', 'x')).toThrow('No deletion command is known for AWS::SQS::Queue');
});
