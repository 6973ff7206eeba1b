import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';

// Percentages of the limit at which an email is sent.
const NOTIFICATIONS = [
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
] as const;

/** Watches the bill of the whole account, because not everything that Sluice causes has a tag, such as traffic. */
export class BillBudget extends Construct {
  constructor(scope: Construct, id: string, { monthlyUsd, email }: { monthlyUsd: number; email: string }) {
    super(scope, id);
    new CfnBudget(this, 'Budget', {
      budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount: monthlyUsd, unit: 'USD' } },
      notificationsWithSubscribers: NOTIFICATIONS.map(({ notificationType, threshold }) => ({
        notification: { notificationType, threshold, thresholdType: 'PERCENTAGE', comparisonOperator: 'GREATER_THAN' },
        subscribers: [{ subscriptionType: 'EMAIL', address: email }],
      })),
    });
  }
}
