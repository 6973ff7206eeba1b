import { Duration, Stack } from 'aws-cdk-lib';
import { Match, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import { EPOCH_INDEX, ORGANIZATION_INDEX } from '../../shared/admission/stores/limiter-store.ts';
import { LIVE_INDEX } from '../../shared/deployments/deployment-store.ts';
import { ARCHIVES_PREFIX } from '../../shared/deployments/names.ts';
import { prefixes } from '../../shared/ids/id.ts';
import type { Config } from '../config/config.ts';
import { grantInvokeGenerations } from '../constructs/functions/endpoints.ts';
import { ExecutionRole } from '../constructs/functions/execution-role.ts';
import { grantManageGenerations } from '../constructs/functions/generations.ts';
import { grantInvoke } from '../constructs/functions/invocation.ts';
import { NodeFunction } from '../constructs/functions/node-function.ts';
import { Reconciliations } from '../constructs/queues/reconciliations.ts';
import { USAGE_LAG } from '../constructs/queues/rollups.ts';
import type { BillingStack } from './billing-stack.ts';
import type { DataStack } from './data-stack.ts';

// Files of organizations, and the archives of their adapters.
const FOLDERS = [prefixes.organization, ARCHIVES_PREFIX + prefixes.organization];
// CDK's estimate is 150, by which the function's policy would not fit into the 10,240 characters of one. Only one ARN
// is longer than this; with the longest names, most have about 110.
const ARN_CHARACTERS = 130;
const TIMEOUT = Duration.seconds(60);
// Lambda's maximum: a benchmark measures about ten levels of a minute, and another invocation continues it.
const BENCHMARK_TIMEOUT = Duration.minutes(15);
// How often each deployment that is not in transition is reconciled. It bounds the error of metered GPU time.
const RECONCILE_EVERY = Duration.minutes(1);
// Lambda repeats a failed event after one minute, and again after two. Later, the schedule has woken the deployment.
const EVENT_RETRIES = 2;
const MAX_EVENT_AGE = Duration.minutes(5);

/**
 * The function that reconciles organizations' deployments with SageMaker, its queue and schedule, and the roles with
 * which deployments run.
 */
export class DeploymentsStack extends Stack {
  readonly function: NodeFunction;
  /** Sends the requests of a benchmark to its deployment. */
  readonly benchmark: NodeFunction;
  readonly reconciliations: Reconciliations;

  constructor(scope: Construct, id: string, { config, data, billing }: { config: Config; data: DataStack; billing: BillingStack }) {
    super(scope, id);
    this.node.setContext('@aws-cdk/aws-iam.arnSizeEstimate', ARN_CHARACTERS);
    this.function = new NodeFunction(this, 'Deployments', {
      config,
      name: 'deployments',
      timeout: TIMEOUT,
      continuesItself: true,
    });
    this.function.addEnvironment('USAGE_LAG_SECONDS', String(USAGE_LAG.toSeconds()));
    this.#grantData(data);
    this.function.addEnvironment('DETAILED_METRICS', String(config.deployments.detailedMetrics));
    billing.tasks.grantSend(this.function);
    grantManageGenerations(this.function, config);
    this.#createRoles(config, data);
    this.benchmark = this.#createBenchmark(config, data);
    grantInvoke(this.function, this.benchmark, 'BENCHMARK_FUNCTION');

    this.reconciliations = new Reconciliations(this, 'Reconciliations');
    this.reconciliations.grantSend(this.function);
    this.reconciliations.deliverTo(this.function);
    this.function.configureAsyncInvoke({ retryAttempts: EVENT_RETRIES, maxEventAge: MAX_EVENT_AGE });
    // EventBridge doesn't repeat its deliveries to Lambda: the next minute repairs what a lost event leaves behind.
    const targets = [new LambdaTarget(this.function, { retryAttempts: 0 })];
    new Rule(this, 'Schedule', { schedule: Schedule.rate(RECONCILE_EVERY), targets });
    new Rule(this, 'EndpointChanges', {
      eventPattern: {
        source: ['aws.sagemaker'],
        detailType: ['SageMaker Endpoint State Change'],
        detail: { EndpointName: Match.prefix(`${config.name}-`) },
      },
      targets,
    });
  }

  #createBenchmark(config: Config, { audit, deployments, notifications, usage }: DataStack): NodeFunction {
    const fn = new NodeFunction(this, 'Benchmark', { config, name: 'benchmark', timeout: BENCHMARK_TIMEOUT });
    fn.addEnvironment('INSTALLATION', config.name);
    deployments.grant(fn, 'GetItem', 'PutItem');
    usage.grant(fn, 'PutItem');
    audit.grantAdd(fn);
    notifications.grantAdd(fn);
    grantInvokeGenerations(fn, config);
    // The pass of the next minute invokes it again, if the benchmark still waits for that.
    fn.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: RECONCILE_EVERY });
    return fn;
  }

  #grantData({ audit, deployments, models, notifications, observability, usage, keys, weights }: DataStack): void {
    deployments.grant(this.function, 'GetItem', 'PutItem', 'DeleteItem');
    deployments.grantIndex(this.function, LIVE_INDEX);
    models.grant(this.function, 'GetItem', 'PutItem', 'DeleteItem');
    // Query: the events themselves say if a deployment is used while the rollup is late.
    usage.grant(this.function, 'PutItem', 'UpdateItem', 'Query');
    // The times of requests, which are compared with the result of a benchmark.
    observability.grant(this.function, 'BatchGetItem', 'Query');
    keys.grant(this.function, 'GetItem', 'BatchGetItem', 'UpdateItem');
    // Requests in flight are in the limiters of the organization or, for a shared model, in any limiter that was used
    // lately.
    keys.grantIndex(this.function, ORGANIZATION_INDEX);
    keys.grantIndex(this.function, EPOCH_INDEX);
    weights.grantList(this.function, ...FOLDERS);
    // It reads the files of adapters and stores them as archives, where organizations can't change them any more.
    weights.grantUnder(this.function, prefixes.organization, 's3:GetObject');
    weights.grantUnder(this.function, ARCHIVES_PREFIX, 's3:PutObject', 's3:DeleteObject');
    // Changes of a deployment's state, of which its organization is notified.
    notifications.grantAdd(this.function);
    audit.grantAdd(this.function);
  }

  /**
   * Without an isolated network, a container has its role's credentials. So what loads from the Hub has a role of its
   * own, which reads no weights.
   */
  #createRoles(config: Config, { weights }: DataStack): void {
    const role = new ExecutionRole(this, 'ExecutionRole', { config, variable: 'EXECUTION_ROLE_ARN' });
    weights.grantReadPrefixes(role.role, ...FOLDERS);
    role.grantPass(this.function);
    if (!config.deployments.hubModels) return;
    new ExecutionRole(this, 'HubExecutionRole', { config, variable: 'HUB_EXECUTION_ROLE_ARN' }).grantPass(this.function);
  }
}
