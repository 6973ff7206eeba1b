import path from 'node:path';
import { type Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Config } from '../config.ts';

const root = path.join(import.meta.dirname, '../..');
const bundling = path.join(root, 'infra/bundling');

/**
 * The young generation has the same size wherever a function runs: V8 would take about 1 MB of it in 256 MB of memory, which makes it
 * collect all the time, and many times that on a large machine, which is mostly garbage. `npm run bench` shows what it costs.
 */
const NODE_OPTIONS = '--enable-source-maps --max-semi-space-size=4';

export interface NodeFunctionProps {
  config: Config;
  /** The folder under `functions/`. */
  name: 'inference' | 'catalog' | 'metering' | 'rollup' | 'tokenizer' | 'control';
  /** The name that its logs and its share of the environments go by, if that is not the folder's. */
  as?: keyof NonNullable<Config['reservedConcurrency']>;
  memoryMb: number;
  timeout: Duration;
  /** A program of infra/ that writes further files beside the bundle; it is given the bundle's folder and these flags. */
  writes?: { program: string; flags: readonly string[] };
}

/** A function of ours: one folder, one esbuild bundle, one role with only what is granted, one log group. */
export class NodeFunction extends NodejsFunction {
  constructor(scope: Construct, id: string, { config, name, as = name, memoryMb, timeout, writes }: NodeFunctionProps) {
    const logGroup = new LogGroup(scope, `${id}Logs`, {
      retention: config.logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    super(scope, id, {
      entry: path.join(root, 'functions', name, 'handler.ts'),
      handler: 'handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryMb,
      timeout,
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      tracing: Tracing.ACTIVE,
      ...(config.reservedConcurrency && { reservedConcurrentExecutions: config.reservedConcurrency[as] }),
      environment: { SLUICE_FUNCTION: as, NODE_OPTIONS },
      depsLockFilePath: path.join(root, 'package-lock.json'),
      projectRoot: root,
      bundling: {
        format: OutputFormat.ESM,
        target: 'node24',
        minify: true,
        sourceMap: true,
        sourcesContent: false,
        mainFields: ['module', 'main'],
        bundleAwsSDK: true,
        externalModules: [],
        // Some CommonJS packages still call require().
        banner: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
        esbuildArgs: {
          '--alias:node:http': path.join(bundling, 'node-http.mjs'),
          '--alias:@aws-sdk/credential-provider-node': path.join(bundling, 'environment-credentials.mjs'),
        },
        commandHooks: {
          beforeBundling: () => [],
          beforeInstall: () => [],
          afterBundling: (_source, folder) =>
            writes
              ? [[process.execPath, path.join(root, 'infra', writes.program), folder, ...writes.flags].map((word) => `"${word}"`).join(' ')]
              : [],
        },
      },
    });
    role.addToPolicy(new PolicyStatement({ actions: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], resources: ['*'] }));
    Validations.of(role).acknowledge({
      id: 'AwsSolutions::AwsSolutions-IAM5[Resource::*]',
      reason: 'X-Ray has no resources to name: its two write actions take only *.',
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions::AwsSolutions-L1',
      reason: 'Node 24 is the newest runtime with a service agreement; 26 is a preview.',
    });
  }
}
