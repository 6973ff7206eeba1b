import { Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  EndpointType,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseTransferMode,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Config } from '../config/config.ts';
import { gatewayTexts } from './gateway-texts.ts';

const BUFFERED_TIMEOUT = Duration.seconds(29);
const STREAM_TIMEOUT = Duration.seconds(600);
const STAGE = 'live';

export interface RestHostProps {
  config: Config;
  name: string;
  /** Serves every path and method that nothing else does. */
  fallback: LambdaFunction;
  /** Where callers are checked, as no authorizer of the gateway's does it. */
  authorization: string;
}

/** One public host: a regional REST API whose every answer, its own included, has the body of interface 2.6. */
export class RestHost extends Construct {
  readonly api: RestApi;
  readonly #fallback: LambdaIntegration;
  readonly #fellBack = new Set<string>();

  constructor(scope: Construct, id: string, { config, name, fallback, authorization }: RestHostProps) {
    super(scope, id);
    const accessLogs = new LogGroup(this, 'AccessLogs', {
      retention: config.logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.api = new RestApi(this, 'Api', {
      restApiName: `${config.name}-${name}`,
      endpointTypes: [EndpointType.REGIONAL],
      // Bodies reach the function byte for byte, and the size that fits does not depend on what is in them.
      binaryMediaTypes: ['*/*'],
      cloudWatchRole: true,
      // The account has one such role for all its APIs: it must not go with this one.
      cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
      deployOptions: {
        stageName: STAGE,
        metricsEnabled: true,
        tracingEnabled: true,
        loggingLevel: MethodLoggingLevel.ERROR,
        // Request bodies hold prompts.
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLogs),
        accessLogFormat: AccessLogFormat.custom(
          JSON.stringify({
            gateway_request_id: AccessLogField.contextRequestId(),
            extended_request_id: AccessLogField.contextExtendedRequestId(),
            time: AccessLogField.contextRequestTimeEpoch(),
            ip: AccessLogField.contextIdentitySourceIp(),
            method: AccessLogField.contextHttpMethod(),
            path: AccessLogField.contextPath(),
            status: AccessLogField.contextStatus(),
            response_bytes: AccessLogField.contextResponseLength(),
            latency_ms: AccessLogField.contextResponseLatency(),
            integration_latency_ms: AccessLogField.contextIntegrationLatency(),
            integration_status: AccessLogField.contextIntegrationStatus(),
            error_type: '$context.error.responseType',
            user_agent: AccessLogField.contextIdentityUserAgent(),
          }),
        ),
      },
    });
    this.#fallback = new LambdaIntegration(fallback, { timeout: BUFFERED_TIMEOUT, allowTestInvoke: false });
    this.api.root.addMethod('ANY', this.#fallback);
    this.api.root.addProxy({ anyMethod: true, defaultIntegration: this.#fallback });
    this.#addGatewayResponses();
    this.#acknowledge(authorization);
  }

  /**
   * Its public URL, without a slash at the end. It names the API alone and not the stage, so that a stack that is told of it does not hang on a
   * deployment.
   */
  get url(): string {
    const { region, urlSuffix } = Stack.of(this);
    return `https://${this.api.restApiId}.execute-api.${region}.${urlSuffix}/${STAGE}`;
  }

  /** Streams the answers to POST on a path from a function; its other methods, and all between it and the root, stay with the fallback. */
  stream(path: string, handler: LambdaFunction): void {
    const resource = this.api.root.resourceForPath(path);
    resource.addMethod(
      'POST',
      new LambdaIntegration(handler, {
        responseTransferMode: ResponseTransferMode.STREAM,
        timeout: STREAM_TIMEOUT,
        allowTestInvoke: false,
      }),
    );
    resource.addMethod('ANY', this.#fallback);
    // What is below a path is found by its own greedy resource, not by one further up.
    resource.addProxy({ anyMethod: true, defaultIntegration: this.#fallback });
    for (let parent = resource.parentResource; parent && parent !== this.api.root; parent = parent.parentResource) this.#fallBack(parent);
  }

  /** A resource that is only on the way to another would be answered by API Gateway itself. */
  #fallBack(resource: IResource): void {
    if (this.#fellBack.has(resource.path)) return;
    this.#fellBack.add(resource.path);
    resource.addMethod('ANY', this.#fallback);
    resource.addProxy({ anyMethod: true, defaultIntegration: this.#fallback });
  }

  #addGatewayResponses(): void {
    for (const { type, status, error, retryAfterSeconds } of gatewayTexts) {
      const body = { error: { ...error, param: null }, request_id: '$context.extendedRequestId' };
      this.api.addGatewayResponse(`Gateway${type.responseType}`, {
        type,
        statusCode: String(status),
        responseHeaders: {
          'x-request-id': 'context.extendedRequestId',
          'access-control-allow-origin': "'*'",
          'access-control-expose-headers': "'x-request-id, retry-after'",
          'cache-control': "'no-store'",
          ...(retryAfterSeconds && { 'retry-after': `'${retryAfterSeconds}'` }),
        },
        templates: { 'application/json': JSON.stringify(body) },
      });
    }
  }

  #acknowledge(authorization: string): void {
    const acknowledge = (rule: string, reason: string): void =>
      Validations.of(this.api).acknowledge({ id: `AwsSolutions::AwsSolutions-${rule}`, reason });
    acknowledge(
      'APIG2',
      'Bodies are checked in the function, whose errors name the field; a request validator could only say that something is wrong.',
    );
    acknowledge(
      'APIG3',
      'A web application firewall costs by the month; a deployer who wants one attaches it to the stage. Keys and limits are checked on every request.',
    );
    acknowledge('APIG4', authorization);
    acknowledge('COG4', authorization);
    acknowledge(
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      'The managed policy is the one that API Gateway asks for to write its logs.',
    );
  }
}
