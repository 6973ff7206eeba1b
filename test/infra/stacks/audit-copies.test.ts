import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../../infra/config/config.ts';
import { DataStack } from '../../../infra/stacks/data-stack.ts';
import { templateOf, templatesWith } from '../../support/assembly/templates.ts';

const statementsOf = (template: Template, role: string): Record<string, unknown>[] => {
  const [policy] = Object.entries(template.findResources('AWS::IAM::Policy')).filter(([id]) => id.startsWith(role));
  return policy?.[1].Properties.PolicyDocument.Statement;
};

test('the control plane can add audit entries only in a transaction, and neither update nor delete them', () => {
  const ofAudit = statementsOf(templateOf('control'), 'ControlRole').filter(({ Resource }) =>
    /RefAudit|AuditArn|GetAttAudit/.test(JSON.stringify(Resource)),
  );
  expect(ofAudit.map(({ Action, Effect, Condition }) => ({ Action, Effect, Condition }))).toEqual([
    { Action: 'dynamodb:Query', Effect: 'Allow', Condition: undefined },
    {
      Action: 'dynamodb:PutItem',
      Effect: 'Allow',
      Condition: { 'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] } },
    },
  ]);
});

test('without the option there is no copy: no bucket, no stream and no function', () => {
  expect(Object.keys(templateOf('data').findResources('AWS::S3::Bucket'))).toEqual([
    'Tokenizers',
    'Weights',
    'BillingFiles',
    'Payloads',
    'TicketFiles',
  ]);
  const { Audit } = templateOf('data').findResources('AWS::DynamoDB::GlobalTable');
  expect(Audit?.Properties.StreamSpecification).toBeUndefined();
  const ofTables = { EventSourceArn: { 'Fn::ImportValue': Match.anyValue() } };
  templateOf('control').resourcePropertiesCountIs('AWS::Lambda::EventSourceMapping', ofTables, 0);
});

describe('with copies of the audit log', () => {
  let data: Template;
  let control: Template;
  let operations: Template;
  beforeAll(async () => {
    const templates = await templatesWith({ auditCopies: { days: 400 } });
    [data, control, operations] = [templates('data'), templates('control'), templates('operations')];
  });

  test.each([
    [{ days: 400 }, 'GOVERNANCE', 400],
    [{ days: 3_650, mode: 'compliance' }, 'COMPLIANCE', 3_650],
  ])('%j locks each copy in a versioned bucket that is retained', (option, Mode, Days) => {
    const app = new App({ builtinCloudFormationValidation: false });
    const stack = new DataStack(app, 'data', { auditCopies: readConfig({ auditCopies: option }).auditCopies });
    const { AuditCopies } = Template.fromStack(stack).findResources('AWS::S3::Bucket');
    expect(AuditCopies).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        ObjectLockEnabled: true,
        ObjectLockConfiguration: { ObjectLockEnabled: 'Enabled', Rule: { DefaultRetention: { Mode, Days } } },
        VersioningConfiguration: { Status: 'Enabled' },
      },
    });
    // The first version of a replaced copy must not expire.
    expect(JSON.stringify(AuditCopies)).not.toContain('NoncurrentVersionExpiration');
  });

  test('a function copies the new entries of the stream, and a queue receives the batches that fail', () => {
    const { Audit } = data.findResources('AWS::DynamoDB::GlobalTable');
    expect(Audit?.Properties.StreamSpecification).toEqual({ StreamViewType: 'NEW_IMAGE' });
    const queueId = Object.keys(control.findResources('AWS::SQS::Queue')).find((id) => id.startsWith('AuditCopies'));
    control.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::ImportValue': Match.stringLikeRegexp('AuditStreamArn') },
      StartingPosition: 'TRIM_HORIZON',
      BisectBatchOnFunctionError: true,
      MaximumRecordAgeInSeconds: 20 * 3_600,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': [queueId, 'Arn'] } } },
    });
  });

  test('the copying function can only add copies, and the control plane cannot reach them', () => {
    const actions = statementsOf(control, 'AuditCopiesFunctionRole').flatMap(({ Action }) => Action);
    expect(actions.filter((action) => /^(s3|dynamodb):/.test(String(action))).sort()).toEqual(
      ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:ListStreams', 's3:PutObject'].sort(),
    );
    expect(JSON.stringify(statementsOf(control, 'ControlRole'))).not.toContain('AuditCopies');
    expect(JSON.stringify(statementsOf(control, 'AuditCopiesFunctionRole'))).toContain('AuditCopies');
  });

  test.each(['AuditEntriesChanged', 'AuditCopiesFailed', 'AuditCopiesLate'])('the alarm %s is set and has a runbook entry', (name) => {
    operations.hasResourceProperties('AWS::CloudWatch::Alarm', { AlarmName: `sluice-operations-${name}` });
    expect(readFileSync(path.join(import.meta.dirname, '../../../docs/runbook.md'), 'utf8')).toContain(`### ${name}\n`);
  });
});
