import { expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { BillBudget } from '../../../../infra/constructs/alarms/bill-budget.ts';
import { templateOf } from '../../../support/assembly/templates.ts';

test('an email is sent at 80% of the month’s limit, and when AWS forecasts more than all of it', () => {
  const stack = new Stack(new App({ builtinCloudFormationValidation: false }), 'test');
  new BillBudget(stack, 'BillBudget', { monthlyUsd: 500, email: 'ops@example.com' });
  const [budget] = Object.values(Template.fromStack(stack).findResources('AWS::Budgets::Budget'));
  expect(budget?.Properties.Budget).toEqual({ BudgetType: 'COST', TimeUnit: 'MONTHLY', BudgetLimit: { Amount: 500, Unit: 'USD' } });
  const subscribers = [{ SubscriptionType: 'EMAIL', Address: 'ops@example.com' }];
  const notification = { ComparisonOperator: 'GREATER_THAN', ThresholdType: 'PERCENTAGE' };
  expect(budget?.Properties.NotificationsWithSubscribers).toEqual([
    { Notification: { ...notification, NotificationType: 'ACTUAL', Threshold: 80 }, Subscribers: subscribers },
    { Notification: { ...notification, NotificationType: 'FORECASTED', Threshold: 100 }, Subscribers: subscribers },
  ]);
});

test('there is none without the setting', () => {
  templateOf('operations').resourceCountIs('AWS::Budgets::Budget', 0);
});
