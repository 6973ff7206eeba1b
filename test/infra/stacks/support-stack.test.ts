import { expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { templateOf, templatesWith } from '../../support/assembly/templates.ts';
import { all, byText, grantsOf, inTransactions, ofFunction } from './grants.ts';

const template = templateOf('support');

test('the function support can do exactly this', () => {
  expect(grantsOf(template, 'Support').toSorted(byText)).toEqual(
    [
      ...ofFunction('SupportLogs'),
      ...all('dynamodb', ['GetItem', 'Query', 'PutItem', 'DeleteItem'], ['Tickets']),
      ...all('dynamodb', ['PutItem'], ['Audit', 'Notifications'], inTransactions),
      ...all('s3', ['ListBucket'], ['TicketFiles'], { StringLike: { 's3:prefix': 'kept/*/*' } }),
      ...all('s3', ['DeleteObject'], ['TicketFiles/kept/*']),
    ].toSorted(byText),
  );
});

test('runs every five minutes, and a run that fails is not repeated', () => {
  template.hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(5 minutes)',
    Targets: [Match.objectLike({ RetryPolicy: { MaximumRetryAttempts: 0 } })],
  });
});

test('keeps closed tickets for as long as the configuration says', async () => {
  const configured = await templatesWith({ support: { retentionDays: 90 } });
  const retention = (stack: typeof template) => {
    const [{ Properties }] = Object.values(stack.findResources('AWS::Lambda::Function')) as [
      { Properties: { Environment: { Variables: Record<string, string> } } },
    ];
    return Properties.Environment.Variables.TICKET_RETENTION_DAYS;
  };
  expect([retention(template), retention(configured('support'))]).toEqual(['730', '90']);
});
