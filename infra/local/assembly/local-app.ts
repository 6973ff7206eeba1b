import type { Filter } from './event-filter.ts';

/** The parts of a cloud assembly that the local run serves. */
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
  /** The environment variable SLUICE_FUNCTION; without it, the logical id. */
  readonly shortName: string;
  /** Absolute path of the bundle's folder. */
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
  /** `gatewayresponse.header.<name>` → quoted text or `context.<property>` */
  readonly parameters: Readonly<Record<string, string>>;
  /** content type → text that can contain `$context.<property>` */
  readonly templates: Readonly<Record<string, string>>;
}

export interface Bucket {
  readonly name: string;
  readonly logicalId: string;
}

export interface Queue {
  readonly arn: string;
  readonly name: string;
}

/** A Cognito user pool with e-mail addresses as usernames, and its client. */
export interface UserPool {
  readonly id: string;
  readonly logicalId: string;
  readonly client: UserPoolClient;
  /** Whether users can set up time-based codes (TOTP) as a second factor. */
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
  /** How long a temporary password is valid. */
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
  /** Parsed constant input of the target; undefined: EventBridge's own event. */
  readonly input: unknown;
}

/** A function that reads the stream of a table. */
export interface EventSource {
  readonly logicalId: string;
  /** ARN of the stream. */
  readonly sourceArn: string;
  readonly tableName: string;
  readonly functionName: string;
  readonly batchSize: number;
  /** Maximum batching window. */
  readonly windowMs: number;
  /** A record must match one of them; an empty list matches every record. */
  readonly filters: readonly Filter[];
  /** Whether a failed batch is split in two before the retry. */
  readonly bisects: boolean;
  /** Infinity: no limit. */
  readonly maxRetries: number;
  readonly maxAgeMs: number;
  /** Queue for batches that exhausted their retries; undefined: they are dropped. */
  readonly failureQueueArn: string | undefined;
}
