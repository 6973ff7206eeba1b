import type { Filter } from '../streams/filter.ts';

/** What the local run serves: the parts of a cloud assembly that do something here. */
export interface LocalApp {
  readonly apis: readonly RestApi[];
  readonly functions: readonly LambdaFunction[];
  readonly tables: readonly Table[];
  readonly buckets: readonly Bucket[];
  readonly queues: readonly Queue[];
  readonly userPools: readonly UserPool[];
  readonly schedules: readonly Schedule[];
  readonly eventSources: readonly EventSource[];
}

export interface LambdaFunction {
  readonly arn: string;
  readonly name: string;
  /** The variable SLUICE_FUNCTION of its environment, else its logical id. */
  readonly shortName: string;
  /** The folder of the bundle, absolute. */
  readonly folder: string;
  /** `<file without extension>.<export>` */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMiB: number;
}

export interface RestApi {
  readonly id: string;
  readonly stackName: string;
  readonly stage: string;
  readonly stageVariables: Readonly<Record<string, string>> | null;
  readonly binaryMediaTypes: readonly string[];
  readonly routes: readonly Route[];
  readonly gatewayResponses: ReadonlyMap<string, GatewayResponseTemplate>;
}

export interface Route {
  readonly resourceId: string;
  /** `/v1/things/{id}` */
  readonly resourcePath: string;
  /** An HTTP method, or ANY. */
  readonly method: string;
  readonly functionArn: string;
  readonly transferMode: 'BUFFERED' | 'STREAM';
  readonly timeoutMs: number;
}

export interface GatewayResponseTemplate {
  readonly statusCode: number | undefined;
  /** `gatewayresponse.header.<name>` → a quoted text or `context.<property>` */
  readonly parameters: Readonly<Record<string, string>>;
  /** content type → text with `$context.<property>` in it */
  readonly templates: Readonly<Record<string, string>>;
}

/** An S3 bucket. */
export interface Bucket {
  readonly name: string;
  readonly logicalId: string;
}

/** An SQS queue. */
export interface Queue {
  readonly arn: string;
  readonly name: string;
}

/** A Cognito user pool whose users are named by their e-mail addresses, with its client. */
export interface UserPool {
  readonly id: string;
  readonly logicalId: string;
  readonly client: UserPoolClient;
  /** Whether users may set up a second factor: time-based codes. */
  readonly hasTotp: boolean;
  readonly passwords: PasswordPolicy;
}

interface UserPoolClient {
  readonly id: string;
  readonly accessTokenSeconds: number;
  readonly idTokenSeconds: number;
  readonly refreshTokenSeconds: number;
}

export interface PasswordPolicy {
  readonly minLength: number;
  readonly requiresLowercase: boolean;
  readonly requiresUppercase: boolean;
  readonly requiresDigits: boolean;
  readonly requiresSymbols: boolean;
  /** How long an administrator's password opens. */
  readonly temporaryValiditySeconds: number;
}

export interface Table {
  readonly name: string;
  readonly logicalId: string;
  readonly properties: TableProperties;
}

interface TableProperties {
  readonly keySchema: readonly KeyElement[];
  readonly attributes: readonly { readonly name: string; readonly type: 'S' | 'N' | 'B' }[];
  readonly indexes: readonly TableIndex[];
  readonly streamViewType: 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES' | 'KEYS_ONLY' | undefined;
  readonly timeToLiveAttribute: string | undefined;
}

export interface KeyElement {
  readonly name: string;
  readonly role: 'HASH' | 'RANGE';
}

interface TableIndex {
  readonly name: string;
  readonly keySchema: readonly KeyElement[];
  readonly projection: 'ALL' | 'KEYS_ONLY' | 'INCLUDE';
  readonly projectedAttributes: readonly string[];
}

export interface Schedule {
  readonly ruleArn: string;
  readonly periodMs: number;
  readonly functionArn: string;
  /** The constant input of the target, parsed; undefined stands for EventBridge's own event. */
  readonly input: unknown;
}

/** A function that reads the stream of a table. */
export interface EventSource {
  readonly logicalId: string;
  /** Of the stream, as the template names it. */
  readonly sourceArn: string;
  readonly tableName: string;
  readonly functionName: string;
  readonly batchSize: number;
  /** The longest that a record waits for others. */
  readonly windowMs: number;
  /** A record must pass one of them, if there is any. */
  readonly filters: readonly Filter[];
  /** Whether a batch that failed is tried again in two halves. */
  readonly bisects: boolean;
  /** Further attempts after the first; Infinity: no end. */
  readonly maxRetries: number;
  readonly maxAgeMs: number;
  /** Where batches that were given up are told; undefined: nowhere. */
  readonly failureQueueArn: string | undefined;
}
