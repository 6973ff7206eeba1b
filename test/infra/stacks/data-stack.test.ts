import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { RETENTION_TAG } from '../../../shared/payload-log/payload.ts';
import { RETENTION_DAYS } from '../../../shared/payload-log/settings.ts';
import { PENDING_FILES } from '../../../shared/tickets/ticket-files.ts';
import { options } from '../../support/assembly/every-option.ts';
import { templateOf, templatesWith } from '../../support/assembly/templates.ts';

const data = templateOf('data');

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/data.md'), 'utf8');
const [, ofExpiry = ''] = /^ +# (.*)\n +aws dynamodb update-time-to-live .*$/m.exec(page) ?? [];

describe('the data stack', () => {
  test('has on-demand, recoverable tables that are protected from deletion and have fixed logical ids', () => {
    const tables = data.findResources('AWS::DynamoDB::GlobalTable');
    expect(Object.keys(tables).sort()).toEqual([
      'Accounts',
      'Attempts',
      'Audit',
      'Billing',
      'Deployments',
      'Keys',
      'Models',
      'Notifications',
      'Observability',
      'Responses',
      'Tickets',
      'Usage',
    ]);
    for (const { Properties, DeletionPolicy } of Object.values(tables)) {
      expect(DeletionPolicy).toBe('Retain');
      expect(Properties).toMatchObject({ BillingMode: 'PAY_PER_REQUEST' });
      expect(Properties.Replicas[0]).toMatchObject({
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      });
    }
  });

  test.each([
    ['Tokenizers', 'TokenizersBucket', { Status: 'Enabled' }],
    ['Weights', 'WeightsBucket', { Status: 'Enabled' }],
    ['BillingFiles', 'BillingBucket', { Status: 'Enabled' }],
    ['Payloads', 'PayloadsBucket', undefined],
    ['TicketFiles', 'TicketFilesBucket', undefined],
  ])('has a private, encrypted, TLS-only bucket %s that is retained and has a fixed logical id', (id, output, versions) => {
    const bucket = data.findResources('AWS::S3::Bucket')[id];
    expect(bucket).toMatchObject({
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        BucketEncryption: { ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }] },
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      },
    });
    expect(bucket?.Properties.VersioningConfiguration).toEqual(versions);
    data.hasResourceProperties('AWS::S3::BucketPolicy', {
      Bucket: { Ref: id },
      PolicyDocument: {
        Statement: [Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } }, Principal: { AWS: '*' } })],
      },
    });
    data.hasOutput(output, { Value: { Ref: id } });
  });

  test('deletes logged bodies after the days of their tag, and those that wait for redaction after one day', () => {
    const rules = data.findResources('AWS::S3::Bucket').Payloads?.Properties.LifecycleConfiguration.Rules;
    const expiring = rules.filter(({ ExpirationInDays }: { ExpirationInDays?: number }) => ExpirationInDays);
    expect(expiring).toEqual([
      { ExpirationInDays: Math.max(...RETENTION_DAYS), Status: 'Enabled' },
      ...RETENTION_DAYS.map((days) => ({
        ExpirationInDays: days,
        Status: 'Enabled',
        TagFilters: [{ Key: RETENTION_TAG, Value: String(days) }],
      })),
      { ExpirationInDays: 1, Prefix: 'unredacted/', Status: 'Enabled' },
    ]);
  });

  test('lets pages of any origin send forms to the bucket for files of tickets, and to no other', () => {
    const rules = Object.entries(data.findResources('AWS::S3::Bucket')).flatMap(([id, { Properties }]) =>
      Properties.CorsConfiguration ? [[id, Properties.CorsConfiguration.CorsRules]] : [],
    );
    expect(rules).toEqual([['TicketFiles', [{ AllowedMethods: ['POST'], AllowedOrigins: ['*'] }]]]);
  });

  test('deletes files of tickets that no message names permanently after a day, and no others', () => {
    const rules = data.findResources('AWS::S3::Bucket').TicketFiles?.Properties.LifecycleConfiguration.Rules;
    const expiring = rules.filter((rule: object) => Object.keys(rule).some((name) => name.includes('Expiration')));
    expect(expiring).toEqual([{ ExpirationInDays: 1, Prefix: PENDING_FILES, Status: 'Enabled' }]);
  });

  test('expires only end users, short totals, stored responses, counters, notifications and request facts', () => {
    const expiring = Object.entries(data.findResources('AWS::DynamoDB::GlobalTable'))
      .filter(([, { Properties }]) => Properties.TimeToLiveSpecification)
      .map(([id, { Properties }]) => [id, Properties.TimeToLiveSpecification]);
    const byTime = { AttributeName: 'expires_at', Enabled: true };
    expect(Object.fromEntries(expiring)).toEqual({
      Keys: { AttributeName: 'del_at', Enabled: true },
      Usage: byTime,
      Responses: byTime,
      Attempts: byTime,
      Notifications: byTime,
      Observability: byTime,
    });
  });

  test('has no table that expires but that a restore doesn’t say how to make expire again', () => {
    const [byTime = '', others = ''] = ofExpiry.split('; ');
    for (const [id, { Properties }] of Object.entries(data.findResources('AWS::DynamoDB::GlobalTable'))) {
      const attribute = Properties.TimeToLiveSpecification?.AttributeName;
      if (attribute === 'expires_at') expect(byTime).toContain(id);
      else if (attribute !== undefined) expect(others).toContain(`${id} has AttributeName=${attribute}`);
    }
  });

  test('has no index that projects counters', () => {
    data.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      GlobalSecondaryIndexes: ['epoch', 'organization'].map((IndexName) => ({ IndexName, Projection: { ProjectionType: 'KEYS_ONLY' } })),
    });
  });
});

test('a table serves at once what the configuration says, and the others what DynamoDB gives', async () => {
  const templates = await templatesWith(options.warmThroughput);
  const warm = Object.entries(templates('data').findResources('AWS::DynamoDB::GlobalTable')).map(
    ([table, { Properties }]) => [table, Properties.WarmThroughput] as const,
  );
  expect(warm.filter(([, throughput]) => throughput !== undefined)).toEqual([
    ['Keys', { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 12_000 }],
    ['Usage', { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 8_000 }],
  ]);
});
