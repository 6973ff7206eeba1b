import path from 'node:path';
import { type Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type CfnFunction,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { HostScope } from '../../../shared/hosts/host.ts';
import { bundle } from '../../bundling/bundle.ts';
import type { Config, ReservedConcurrency } from '../../config/config.ts';
import { acknowledgeUnexercised } from './acknowledge-unexercised.ts';
import { environmentErrors } from './environment-size.ts';
import { nodeOptionsOf, SMALL_MALLOC, smallNodeOptionsOf } from './node-options.ts';

const root = path.join(import.meta.dirname, '../../..');

// Only some deployments have these functions, or a schedule runs them, or Cognito, at most 120 times a second. What
// invokes them limits their executions.
const UNRESERVED = ['audit-copy', 'auth-challenge', 'benchmark', 'support', 'telemetry'] as const;
type UnreservedFunction = (typeof UNRESERVED)[number];

const isUnreserved = (name: keyof ReservedConcurrency | UnreservedFunction): name is UnreservedFunction =>
  UNRESERVED.some((unreserved) => unreserved === name);

interface NodeFunctionProps {
  config: Config;
  /** The folder under `functions/`. */
  name:
    | 'inference'
    | 'catalog'
    | 'metering'
    | 'rollup'
    | 'refusals'
    | 'payloads'
    | 'tokenizer'
    | 'control'
    | 'sign-in'
    | 'machine-sign-in'
    | 'single-sign-on'
    | 'console'
    | 'deployments'
    | 'billing'
    | 'notifications'
    | UnreservedFunction;
  /** The function's name in logs and in `reservedConcurrency`. Default: the folder's name. */
  as?: keyof ReservedConcurrency | UnreservedFunction;
  /** The file in the folder that exports the handler. */
  entry?: 'handler.ts' | 'sdk-handler.ts';
  timeout: Duration;
  /** The host whose API reference the function serves from files next to its bundle. */
  reference?: { host: HostScope | 'control' };
  /** True if the function serves the console from files next to its bundle. */
  hasConsole?: boolean;
  /**
   * True if the function's messages lead to messages to itself, in any number. By default, AWS drops an event that
   * comes back 16 times.
   */
  continuesItself?: boolean;
  /** Files of packages that the function reads: their places next to its bundle, and in `node_modules`. */
  files?: Readonly<Record<string, string>>;
  /** True if the function fits into little memory only with limits of the heap of its own. */
  isSmall?: boolean;
  /** The least memory in MB, if it needs more than the setting's default. */
  leastMb?: number;
}

// A name that Lambda runs instead of Node, in the folder of the code.
const START = 'start.sh';
const SMALL = {
  files: { [START]: path.join(root, 'infra/bundling', START) },
  variables: { AWS_LAMBDA_EXEC_WRAPPER: `/var/task/${START}`, ...SMALL_MALLOC },
} as const;

// This program writes a host's reference next to its bundle.
const toWriteReference = ({ host }: NonNullable<NodeFunctionProps['reference']>) => ({
  program: path.join(root, 'infra/tools/reference/write-reference.ts'),
  flags: ['--host', host],
});

// This program writes the console next to its bundle.
const TO_WRITE_CONSOLE = { program: path.join(root, 'infra/tools/console/write-console.ts'), flags: [] };

/**
 * A Lambda function: one folder, one esbuild bundle, one log group, and one role that has only the granted
 * permissions.
 */
export class NodeFunction extends LambdaFunction {
  /** The function's name in the documentation. */
  readonly title: string;

  constructor(
    scope: Construct,
    id: string,
    {
      config,
      name,
      as = name,
      entry = 'handler.ts',
      timeout,
      reference,
      hasConsole = false,
      files,
      isSmall = false,
      leastMb = 0,
      continuesItself = false,
    }: NodeFunctionProps,
  ) {
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: config.logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    const memoryMb = Math.max(config.memory[as], leastMb);
    const reserved = isUnreserved(as) ? undefined : config.reservedConcurrency?.[as];
    super(scope, id, {
      code: bundle({
        entry: path.join(root, 'functions', name, entry),
        afterwards: reference ? toWriteReference(reference) : hasConsole ? TO_WRITE_CONSOLE : undefined,
        files: isSmall ? { ...SMALL.files, ...files } : files,
      }),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryMb,
      timeout,
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN },
      tracing: Tracing.ACTIVE,
      ...(continuesItself && { recursiveLoop: RecursiveLoop.ALLOW }),
      ...(reserved !== undefined && { reservedConcurrentExecutions: reserved }),
      environment: {
        SLUICE_FUNCTION: as,
        NODE_OPTIONS: isSmall ? smallNodeOptionsOf(memoryMb) : nodeOptionsOf(memoryMb),
        ...(isSmall && SMALL.variables),
      },
    });
    this.title = as;
    const resource = this.node.defaultChild as CfnFunction;
    this.node.addValidation({ validate: () => environmentErrors(resource, as) });
    acknowledgeUnexercised(
      role,
      { actions: ['logs:CreateLogStream', 'logs:PutLogEvents', 'xray:PutTraceSegments', 'xray:PutTelemetryRecords'] },
      'Lambda writes logs and traces with the role of the function.',
    );
    role.addToPolicy(new PolicyStatement({ actions: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], resources: ['*'] }));
    Validations.of(role).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
      reason: 'The two write actions of X-Ray do not support resource-level permissions.',
    });
  }
}
