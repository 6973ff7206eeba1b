/** AWS rejected a call or failed. `name` is AWS's error code, such as `ThrottlingException`. */
export class AwsError extends Error {
  /** The HTTP status; 200 for an error within a stream. */
  readonly status: number;
  /** The fields of the error's JSON body. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(name: string, status: number, facts: Readonly<Record<string, unknown>>) {
    super(String(facts.message ?? facts.Message ?? `AWS answered ${status}.`));
    this.name = name;
    this.status = status;
    this.facts = facts;
  }
}

/** A call or a part of it took too long. Nothing is known about its effect. */
export class CallTimeout extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'TimeoutError';
  }
}

/**
 * A reply that broke off, was damaged on the way, or is larger than its bound. Nothing is known about the call's
 * effect.
 */
export class DamagedReply extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'DamagedReply';
  }
}

/** A connection that ended, with the code that Node gives such an error. */
export const brokenConnection = (what: string): Error => Object.assign(new Error(what), { code: 'ECONNRESET' });

// Codes of network errors, such as ECONNRESET, of TLS, and of replies that are not HTTP; Node's other codes (`ERR_…`)
// are about our own mistakes.
const NETWORK_CODE = /^(?:E(?!RR_)[A-Z_]+|HPE_[A-Z_]+|ERR_(?:TLS|SSL)_.+)$/;

const isNetworkError = ({ code }: { code?: unknown }): boolean => typeof code === 'string' && NETWORK_CODE.test(code);

/** No complete reply arrived, so the effect of the call is unknown. */
export const isConnectionError = (error: unknown): boolean =>
  error instanceof CallTimeout || error instanceof DamagedReply || isNetworkError(error as { code?: unknown });

const THROTTLES = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TooManyRequestsException',
  // A transaction whose first attempt, with the same token, is still being processed.
  'TransactionInProgressException',
]);
const TOO_MANY_REQUESTS = 429;
const FIRST_SERVER_STATUS = 500;

export const isThrottle = (error: unknown): boolean =>
  error instanceof AwsError && (error.status === TOO_MANY_REQUESTS || THROTTLES.has(error.name));

export const isServerError = (error: unknown): boolean => error instanceof AwsError && error.status >= FIRST_SERVER_STATUS;

const CLOCK_ERRORS = new Set([
  'AuthFailure',
  'InvalidSignatureException',
  'RequestExpired',
  'RequestInTheFuture',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
]);

export const isClockError = (error: unknown): boolean => error instanceof AwsError && CLOCK_ERRORS.has(error.name);

const XML_CODE = /<Code>(\w{1,100})<\/Code>/;
const XML_MESSAGE = /<Message>([^<]*)<\/Message>/;

/**
 * Reads an error response of AWS's JSON protocols, or of S3, which answers in XML.
 * @param type the `x-amzn-errortype` header, such as `ValidationException:http://internal.amazon.com/…`
 */
export const readAwsError = (status: number, type: string | undefined, body: string): AwsError => {
  let facts: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null) facts = parsed as Record<string, unknown>;
  } catch {
    const [, code] = XML_CODE.exec(body) ?? [];
    const [, message = body] = XML_MESSAGE.exec(body) ?? [];
    facts = { message, ...(code && { code }) };
  }
  const code = String(type ?? facts.__type ?? facts.code ?? 'UnknownError');
  // `com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException` without its namespace, and without a URL after
  // a colon
  const [withNamespace = code] = code.split(':');
  return new AwsError(withNamespace.slice(withNamespace.indexOf('#') + 1), status, facts);
};
