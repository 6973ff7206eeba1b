import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { templateOf, templatesWith } from '../../support/assembly/templates.ts';
import { all, byText, grantsOf, inTransactions, ofFunction } from './grants.ts';

const notifications = templateOf('notifications');

const whatItCanDo = [
  ...all('dynamodb', ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'], ['Notifications']),
  ...all('dynamodb', ['GetItem', 'BatchGetItem', 'Query'], ['Accounts']),
  ...all('dynamodb', ['PutItem'], ['Audit'], inTransactions),
  ...all('dynamodb', ['DescribeStream', 'GetRecords', 'GetShardIterator'], ['NotificationsStream']),
  ...all('dynamodb', ['ListStreams'], ['*']),
  ...all('sqs', ['SendMessage'], ['OutboxFailures']),
  ...all('sqs', ['SendMessage', 'ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes'], ['DeliveriesQueue']),
  ...ofFunction('NotificationsLogs'),
];

describe('the function notifications', () => {
  test('can do exactly this, each on these resources and under this condition', () => {
    expect(grantsOf(notifications, 'NotificationsRole').sort(byText)).toEqual([...whatItCanDo].sort(byText));
  });

  test('knows its tables and its queue, allows no networks that are not public, and sends no email', () => {
    notifications.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: Match.objectLike({
          SLUICE_FUNCTION: 'notifications',
          INSTALLATION: 'sluice',
          NOTIFICATIONS_TABLE: Match.anyValue(),
          BILLING_TABLE: Match.absent(),
          AUDIT_TABLE: Match.anyValue(),
          DELIVERIES_QUEUE: { Ref: Match.stringLikeRegexp('^DeliveriesQueue') },
          ALLOWED_NETWORKS: '',
          EMAIL_FROM: Match.absent(),
        }),
      },
    });
  });

  test('gets the new notifications of the outbox, and none of the other rows of the table', () => {
    notifications.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::ImportValue': Match.stringLikeRegexp('NotificationsStreamArn') },
      StartingPosition: 'TRIM_HORIZON',
      BisectBatchOnFunctionError: true,
      MaximumRecordAgeInSeconds: 20 * 3_600,
      FilterCriteria: {
        Filters: [{ Pattern: '{"eventName":["INSERT"],"dynamodb":{"Keys":{"record":{"S":[{"prefix":"notification#"}]}}}}' }],
      },
      DestinationConfig: { OnFailure: { Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('^OutboxFailures'), 'Arn'] } } },
    });
  });

  test('gets each delivery in an invocation of its own, with a delay for each message', () => {
    notifications.hasResourceProperties('AWS::SQS::Queue', {
      FifoQueue: Match.absent(),
      VisibilityTimeout: 360,
      RedrivePolicy: {
        deadLetterTargetArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^DeliveriesFailures'), 'Arn'] },
        maxReceiveCount: 300,
      },
    });
    notifications.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^DeliveriesQueue'), 'Arn'] },
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: 8 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });
});

test('sends email from the set address and events of tickets only, and knows the allowed networks', async () => {
  const templates = await templatesWith({
    notifications: { emailFrom: 'billing@mail.example.com', allowedNetworks: ['10.1.0.0/16', 'fd00::/8'] },
    support: { email: 'desk@example.com', replyTo: 'support@example.com', events: true },
  });
  const template = templates('notifications');
  const resources = [
    // SES sends with what is verified: the address, its domain, or a domain above it.
    ...['billing@mail.example.com', 'mail.example.com', 'example.com'].map((identity) => `arn::ses:::identity/${identity}`),
    // An identity can have a default configuration set, for which SES authorizes the call, too.
    'arn::ses:::configuration-set/*',
  ];
  const fromAddress = { StringEquals: { 'ses:FromAddress': 'billing@mail.example.com' } };
  expect(grantsOf(template, 'NotificationsRole').sort(byText)).toEqual(
    [
      ...whatItCanDo,
      ...all('dynamodb', ['GetItem'], ['Billing']),
      ...all('ses', ['SendEmail'], resources, fromAddress),
      ...all('events', ['PutEvents'], ['arn::events:::event-bus/default'], { StringEquals: { 'events:source': 'sluice.tickets' } }),
    ].sort(byText),
  );
  templates('control').hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ SLUICE_FUNCTION: 'control', ALLOWED_NETWORKS: '10.1.0.0/16,fd00::/8' }) },
  });
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: {
      Variables: Match.objectLike({
        EMAIL_FROM: 'billing@mail.example.com',
        BILLING_TABLE: Match.anyValue(),
        ALLOWED_NETWORKS: '10.1.0.0/16,fd00::/8',
        SUPPORT_EMAIL: 'desk@example.com',
        SUPPORT_REPLY_TO: 'support@example.com',
        TICKET_EVENTS: 'true',
      }),
    },
  });
});
