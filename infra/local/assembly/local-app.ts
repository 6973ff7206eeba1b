/** What the local run serves: the parts of a cloud assembly that do something here. */
export interface LocalApp {
  readonly apis: readonly RestApi[];
  readonly functions: readonly LambdaFunction[];
  readonly tables: readonly Table[];
  readonly buckets: readonly Bucket[];
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

export interface Table {
  readonly name: string;
  readonly logicalId: string;
  readonly properties: TableProperties;
}

export interface TableProperties {
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

export interface TableIndex {
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

/** A function that reads a stream or a queue. */
export interface EventSource {
  readonly logicalId: string;
  readonly sourceArn: string;
  readonly functionName: string;
  readonly batchSize: number;
}
