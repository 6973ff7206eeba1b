import { parseJson } from './json.ts';

interface FailureFacts {
  /** 0: there was no reply. */
  status: number;
  code: string | null;
  message: string;
  /** The field or parameter that was wrong. */
  param?: string | null;
  requestId?: string | null;
  retryAfterSeconds?: number | undefined;
  /** All that the service says of the error, such as the `wake` of a deployment. */
  details?: Readonly<Record<string, unknown>>;
}

/** A request that failed. Its message says what to do; it is the API's own, if that holds in the console too. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor({ status, code, message, param = null, requestId = null, retryAfterSeconds, details = {} }: FailureFacts) {
    super(message);
    this.name = 'ApiFailure';
    this.status = status;
    this.code = code;
    this.param = param;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
    this.details = details;
  }
}

interface ErrorBody extends Record<string, unknown> {
  message?: string;
  code?: string | null;
  param?: string | null;
}

// A 401's error is a text.
const errorOf = (body: unknown): ErrorBody => {
  const { error, message } = (body ?? {}) as { error?: unknown; message?: string };
  if (typeof error === 'string') return { message: message ?? error };
  return (error ?? {}) as ErrorBody;
};

const parsed = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
};

// Advice for errors whose own advice names requests of the API, by code.
const ADVICE: Readonly<Record<string, string>> = {
  already_logged_in: 'Ask them to choose "Forgot your password?" when they sign in.',
  benchmark_running: 'Wait until it ends, or cancel it on the page of that deployment.',
  instance_type_not_priced: 'Choose another one, or ask an admin to add a price.',
  no_seller: 'Set it on the page Seller, then issue the invoice.',
  second_factor_required: 'Set one up on the page Account. If you have one, sign out and in again.',
};

const withAdvice = (message: string, code: string | null): string => {
  const advice = code !== null && Object.hasOwn(ADVICE, code) ? ADVICE[code] : undefined;
  return advice === undefined ? message : message.replace(/\. .*$/s, `. ${advice}`);
};

/** True if the service refuses something until its user has a second factor, or has signed in with it. */
export const needsSecondFactor = (error: Error | null): boolean => error instanceof ApiFailure && error.code === 'second_factor_required';

/** The failure that a body describes. @param body parsed; anything if it is no error of ours */
export const failureIn = (body: unknown, facts: Pick<FailureFacts, 'status' | 'requestId' | 'retryAfterSeconds'>): ApiFailure => {
  const details = errorOf(body);
  const { message, code = null, param = null } = details;
  return new ApiFailure({
    ...facts,
    code,
    param,
    message:
      message === undefined
        ? `The service returned status ${facts.status}. Try again. If it keeps failing, open a ticket.`
        : withAdvice(message, code),
    details,
  });
};

/** A request without a whole reply: the network is down, or the browser blocked it. */
export const unreachable = (): ApiFailure =>
  new ApiFailure({ status: 0, code: 'unreachable', message: 'The service could not be reached. Check your connection, then try again.' });

/**
 * The text of a reply.
 * @throws ApiFailure if the connection breaks off before its end, and an `AbortError` if it was aborted
 */
export const textOf = (response: Response): Promise<string> =>
  response.text().catch((error: Error) => {
    throw error.name === 'AbortError' ? error : unreachable();
  });

/** The failure that a reply describes. @throws as `textOf` */
export const failureOf = async (response: Response): Promise<ApiFailure> => {
  const retryAfter = Number(response.headers.get('retry-after'));
  return failureIn(parsed(await textOf(response)), {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
  });
};

const CHANGED_MEANWHILE = 412;

/** True if a change was refused because the thing has a newer version than the change was made of. */
export const isChangedMeanwhile = (error: unknown): boolean => error instanceof ApiFailure && error.status === CHANGED_MEANWHILE;
