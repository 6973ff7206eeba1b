import { describe, expect, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { readConfig } from '../../../../infra/config/config.ts';
import { KeysStack } from '../../../../infra/stacks/keys-stack.ts';

interface Statement {
  Sid?: string;
  Action: string | string[];
  Principal: { AWS?: unknown; Service?: unknown };
  Condition?: Record<string, Record<string, unknown>>;
}

const stack = new KeysStack(new App({ builtinCloudFormationValidation: false }), 'keys', { config: readConfig({ stage: 'prod' }) });
const template = Template.fromStack(stack);
const [key] = Object.values(template.findResources('AWS::KMS::Key'));
const statements: Statement[] = key?.Properties.KeyPolicy.Statement;
const statementOf = (sid: string): Statement => statements.find(({ Sid }) => Sid === sid) as Statement;

describe('the key of the account', () => {
  test('is rotated, is retained, and has the stage in its alias', () => {
    expect(key).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain', Properties: { EnableKeyRotation: true } });
    template.hasResourceProperties('AWS::KMS::Alias', { AliasName: 'alias/sluice-prod' });
    expect(stack.terminationProtection).toBe(true);
  });

  test('can be used by principals of the account, through DynamoDB, S3 and SQS only', () => {
    for (const sid of ['UseThroughServices', 'GrantToDynamoDb']) {
      const { StringEquals } = statementOf(sid).Condition ?? {};
      expect(StringEquals?.['kms:CallerAccount']).toEqual({ Ref: 'AWS::AccountId' });
    }
    const services = JSON.stringify(statementOf('UseThroughServices').Condition?.StringEquals?.['kms:ViaService']).match(/\w+(?=\.")/g);
    expect(services).toEqual(['dynamodb', 's3', 'sqs']);
    expect(statementOf('UseThroughServices').Action).not.toContain('kms:CreateGrant');
    expect(statementOf('GrantToDynamoDb').Condition?.Bool).toEqual({ 'kms:GrantIsForAWSResource': 'true' });
  });

  test('encrypts the log groups of this installation, and no others', () => {
    const { Principal, Condition } = statementOf('EncryptLogs');
    expect(JSON.stringify(Principal.Service)).toContain('logs.');
    expect(JSON.stringify(Condition?.ArnLike?.['kms:EncryptionContext:aws:logs:arn'])).toContain(':log-group:sluice-prod-*');
  });

  test('lets CloudWatch send alarms of the account', () => {
    expect(statementOf('SendAlarms')).toMatchObject({
      Principal: { Service: 'cloudwatch.amazonaws.com' },
      Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
  });

  test('has no other principal than the account’s administrators, whose policies decide', () => {
    expect(statements.map(({ Sid }) => Sid)).toEqual([undefined, 'UseThroughServices', 'GrantToDynamoDb', 'EncryptLogs', 'SendAlarms']);
    expect(JSON.stringify(statements[0]?.Principal)).toContain(':root');
    for (const { Sid, Condition } of statements) if (Sid) expect(Condition).toBeDefined();
  });
});
