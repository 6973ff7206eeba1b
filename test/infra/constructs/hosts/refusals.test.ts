import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { templateOf } from '../../../support/assembly/templates.ts';
import { all, byText, grantsOf, ofFunction } from '../../stacks/grants.ts';

const serverless = templateOf('serverless');

describe('the count of refused requests', () => {
  test.each(['serverless', 'ondemand'] as const)(
    'gets the lines `refused` of both functions of the %s host, and no other lines',
    (host) => {
      const filters = Object.values(templateOf(host).findResources('AWS::Logs::SubscriptionFilter'));
      expect(filters.map(({ Properties }) => Properties.FilterPattern)).toEqual(Array(2).fill('{ $.message = "refused" }'));
      const groups = filters.map(({ Properties }) => Properties.LogGroupName.Ref.replace(/[0-9A-F]{8}$/, ''));
      expect(groups.sort()).toEqual(['CatalogLogs', 'InferenceLogs']);
    },
  );

  test.each(['serverless', 'ondemand'] as const)('lets CloudWatch Logs invoke the function for these logs of the %s host only', (host) => {
    const permissions = Object.values(templateOf(host).findResources('AWS::Lambda::Permission')).filter(
      ({ Properties }) => Properties.Principal === 'logs.amazonaws.com',
    );
    const sources = permissions.map(({ Properties }) => Properties.SourceArn['Fn::GetAtt'].join('.').replace(/[0-9A-F]{8}/, ''));
    expect(sources.sort()).toEqual(['CatalogLogs.Arn', 'InferenceLogs.Arn']);
  });

  test('can read and write the table of observability and send what failed to its queue, and nothing else', () => {
    const whatItCanDo = [
      ...all('dynamodb', ['GetItem', 'PutItem', 'UpdateItem'], ['Observability']),
      ...all('sqs', ['SendMessage'], ['RefusalsFailures']),
      ...ofFunction('RefusalsFunctionLogs'),
    ];
    expect(grantsOf(serverless, 'RefusalsFunctionRole').sort(byText)).toEqual(whatItCanDo.sort(byText));
  });

  test('retries a failed batch, and finally sends it to a queue', () => {
    serverless.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 6 * 3_600,
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('^RefusalsFailures'), 'Arn'] } } },
    });
  });
});
