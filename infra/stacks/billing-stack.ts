import { Duration, Stack } from 'aws-cdk-lib';
import type { Rule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { BUNDLED_FONTS } from '../../functions/billing/render/fonts.ts';
import { ORGANIZATION_INDEX } from '../../shared/admission/stores/limiter-store.ts';
import { type Config, ReservedConcurrency } from '../config/config.ts';
import { version } from '../config/release.ts';
import { NodeFunction } from '../constructs/functions/node-function.ts';
import { runEvery } from '../constructs/functions/schedule.ts';
import { BILLING_TIMEOUT, BillingTasks, MonthClosings } from '../constructs/queues/billing-tasks.ts';
import type { DataStack } from './data-stack.ts';

// Finds due months, expired credit and hours to export.
const LOOK_EVERY = Duration.hours(1);

/**
 * The function that closes months, makes invoices and their files, exports and rates events again, and watches
 * budgets; its queue and its schedule.
 */
export class BillingStack extends Stack {
  readonly function: NodeFunction;
  readonly tasks: BillingTasks;
  readonly closings: MonthClosings;
  readonly schedule: Rule;

  constructor(scope: Construct, id: string, { config, data }: { config: Config; data: DataStack }) {
    super(scope, id);
    this.function = new NodeFunction(this, 'Billing', {
      config,
      name: 'billing',
      timeout: BILLING_TIMEOUT,
      files: BUNDLED_FONTS,
      continuesItself: true,
    });
    this.function.addEnvironment('SLUICE_VERSION', version);
    this.#grantData(data);
    this.#grantHooks(config);

    this.tasks = new BillingTasks(this, 'BillingTasks');
    const reserved = (config.reservedConcurrency ?? ReservedConcurrency.parse({})).billing;
    this.closings = new MonthClosings(this, 'MonthClosings', { tasks: this.tasks, reserved });
    for (const queue of [this.tasks, this.closings]) {
      queue.grantSend(this.function);
      queue.deliverTo(this.function);
    }
    this.schedule = runEvery(this, 'Schedule', this.function, LOOK_EVERY);
  }

  #grantData({ accounts, audit, billing, billingFiles, deployments, keys, models, notifications, usage }: DataStack): void {
    // Events and totals. Events that are rated again are added; the sums of a day's GPU time are updated.
    usage.grant(this.function, 'Query', 'PutItem', 'UpdateItem');
    // Keys by organization, their budgets, and credit.
    keys.grant(this.function, 'GetItem', 'BatchGetItem', 'UpdateItem');
    keys.grantIndex(this.function, ORGANIZATION_INDEX);
    // Prices, and the credit that is held for deployments.
    models.grant(this.function, 'GetItem');
    deployments.grant(this.function, 'GetItem', 'BatchGetItem', 'Query');
    // Organizations, and the ledger of credit with its expiries.
    accounts.grant(this.function, 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem');
    billing.grant(this.function, 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem');
    billingFiles.grantReadAndUpload(this.function);
    notifications.grantAdd(this.function);
    audit.grantAdd(this.function);
  }

  // A deployer can add a function that computes taxes, and the secret of a Stripe account that gets usage.
  #grantHooks({ billing: { taxFunctionArn, stripeSecretArn } }: Config): void {
    if (taxFunctionArn !== undefined) {
      this.function.addToRolePolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [taxFunctionArn] }));
      this.function.addEnvironment('TAX_FUNCTION', taxFunctionArn);
    }
    if (stripeSecretArn !== undefined) {
      this.function.addToRolePolicy(new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [stripeSecretArn] }));
      this.function.addEnvironment('STRIPE_SECRET', stripeSecretArn);
    }
  }
}
