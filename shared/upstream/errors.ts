import { DamagedReply } from '../aws/errors.ts';
import { redact } from '../aws/redact.ts';
import { ApiError, type FieldNames, nameOf, withNames } from '../http/errors.ts';
import { ErrorInStream } from './error-in-stream.ts';

export type UpstreamCode = 'upstream_error' | 'upstream_timeout' | 'no_capacity' | 'model_not_ready';

const texts: Record<UpstreamCode, string> = {
  upstream_error:
    'The model failed to answer. Nothing is wrong with the request; try it again. If that does not help, quote the request id in a support ticket.',
  upstream_timeout: 'The model took too long to answer. Lower max_tokens. The limit is 280 seconds, or 580 seconds with stream: true.',
  no_capacity: 'The model has no free capacity at the moment. Try again shortly.',
  model_not_ready: 'The model is starting. Try again in a few moments.',
};
const retryAfterSeconds: Record<UpstreamCode, number> = { upstream_error: 1, upstream_timeout: 5, no_capacity: 5, model_not_ready: 30 };

/**
 * A failure of the upstream, as the caller sees it: 503 with `Retry-After`. `detail` can have the container's words,
 * which can repeat the prompt: it is never sent to callers and never logged.
 */
export class UpstreamFailed extends ApiError {
  readonly detail: string;
  /** For the log: the failure, and the length of the text about it. */
  readonly logged: { failure: string; failure_length: number };
  /** @param failure the failure, without words of the container */
  constructor(code: UpstreamCode, detail: string, failure: string = code) {
    super({ status: 503, type: 'server_error', code, message: texts[code], headers: { 'retry-after': String(retryAfterSeconds[code]) } });
    this.detail = detail;
    this.logged = { failure, failure_length: detail.length };
  }
}

/**
 * The connection broke, or the answer was damaged, when the container may have processed the request, so no other
 * target may be tried.
 */
export class BrokenAtWork extends UpstreamFailed {
  constructor(error: unknown) {
    const what = 'The connection broke before the end of the answer';
    super('upstream_error', `${what}: ${error instanceof Error ? error.message : String(error)}`, `${what}: ${kindOf(error as Thrown)}`);
  }
}

// The fields as runtimes' error messages name them.
const VALIDATED_BY_RUNTIME =
  /\b(?:logit_bias|allowed_token_ids|stop_token_ids|bad_words|min_tokens|max_tokens|top_logprobs|logprobs|temperature|top_p|top_k|min_p|repetition_penalty|presence_penalty|frequency_penalty|response_format|tool_choice|tools|seed)\b/;

// The words of vLLM and llama.cpp, then those of Text Embeddings Inference.
const TOO_LONG = /maximum context length|must have less than \d+ tokens/i;
// Runtimes advise this when a request does not fit the window.
const ADVICE = /\.?\s*(?:Please reduce [^.]*\.?)?$/;
const fitAdvice = (names: FieldNames): string => `. Shorten the ${nameOf('messages', names)} or lower ${nameOf('max_tokens', names)}.`;

/** The container rejected the request: 400 with the container's message, in the route's names of the fields. */
export class RefusedByModel extends ApiError {
  /** @param named null: the message is about several fields; by default, about the first one that it names */
  constructor(message: string, names: FieldNames = {}, named?: null) {
    const isTooLong = TOO_LONG.test(message);
    const field = named === null ? undefined : isTooLong ? 'messages' : VALIDATED_BY_RUNTIME.exec(message)?.[0];
    super({
      status: 400,
      type: 'invalid_request_error',
      code: isTooLong ? 'context_length_exceeded' : 'invalid_value',
      message: isTooLong ? withNames(message, names).replace(ADVICE, fitAdvice(names)) : withNames(message, names),
      param: field === undefined ? null : nameOf(field, names),
    });
  }
}

/**
 * The container could not parse the body that we sent: our own bug. Its text is left out, because it can repeat the
 * body.
 */
export class MistranslatedRequest extends Error {
  constructor(kind: string, text: string) {
    super(`The container could not parse our request: ${kind}, with a text of ${text.length} characters.`);
  }
}

// vLLM's messages for schema errors, fields and batches that only we set: we sent a body that we should have rejected.
// A chat body with a wrong type is taken for a completion without a prompt, since no type of a completion is wrong.
const OUR_FAULTS =
  /maximum allowed batch size|Cannot find suitable handler for request|^\d+ validation errors?:|Either prompt or prompt_embeds must be provided|\b(?:cache_salt|request_id|stream_options)\b/;
const BROKEN = new Set(['ECONNRESET', 'EPIPE']);
const NO_CAPACITY = /no capacity/i;
// An endpoint or an inference component that is still being created, or was deleted.
const NOT_FOUND = /^(?:Endpoint|Inference Component)\b.*\bnot found/i;
// Up to 0.27, vLLM reports a schema or a word that it can't process with the status 500 and no text, before it
// generates anything. A runtime that is broken gives a reason. In a string, an escaped quote would follow these names.
const NEEDS_RUNTIME = /"(?:strict|json_schema|bad_words)":/;
const NO_REASON =
  'The model rejected the request without a reason. It supports only some JSON Schemas: simplify those in tools and response_format, and check bad_words.';
// SageMaker's own words for a container that took longer than a plain invocation may.
const TIMED_OUT = /^Your invocation timed out/;
// Other statuses below 500 are about the container's load or setup.
const REQUEST_STATUSES = new Set([400, 413, 422]);
const LOAD_STATUSES = new Set([408, 425, 429]);

interface Thrown {
  name?: string;
  message?: string;
  code?: string;
  /** The fields of an error of the SageMaker runtime. */
  facts?: { ErrorCode?: string; OriginalStatusCode?: number; OriginalMessage?: string };
}

// A class or code, as AWS and Node name them; anything else could be a text.
const CLASS_OR_CODE = /^[\w.-]{1,64}$/;

const kindOf = ({ name = 'Error', code, facts: { OriginalStatusCode, ErrorCode } = {} }: Thrown): string =>
  [name, OriginalStatusCode, ErrorCode, code].filter((part) => part !== undefined && CLASS_OR_CODE.test(String(part))).join(' ');

const byName: Record<string, UpstreamCode> = {
  ThrottlingException: 'no_capacity',
  ServiceUnavailable: 'no_capacity',
  ModelNotReadyException: 'model_not_ready',
  TimeoutError: 'upstream_timeout',
  // The role may only invoke endpoints with the tag, and an endpoint that does not exist has none.
  AccessDeniedException: 'model_not_ready',
};

/** The other side closed the connection. */
export const isBrokenConnection = (error: unknown): boolean => BROKEN.has((error as Thrown).code ?? '');

/**
 * Converts anything that the SageMaker runtime, its connection or a runtime's stream threw to an error for callers,
 * or to a MistranslatedRequest.
 * @param names the route's names for fields that a container can reject
 * @param sent the body that was sent to the container
 */
export const toUpstreamError = (error: unknown, names?: FieldNames, sent = ''): Error => {
  if (error instanceof ApiError || error instanceof MistranslatedRequest) return error;
  const thrown = error as Thrown;
  const detail = `${thrown.name ?? 'Error'}: ${thrown.message ?? String(error)}`.slice(0, 1_000);
  const kind = kindOf(thrown);
  const failed = (code: UpstreamCode): UpstreamFailed => new UpstreamFailed(code, detail, kind);
  const { OriginalStatusCode: status, OriginalMessage: original = '', ErrorCode } = thrown.facts ?? {};
  if (thrown.name === 'ModelError' && LOAD_STATUSES.has(status ?? 0)) return failed('no_capacity');
  if (thrown.name === 'ModelError' && REQUEST_STATUSES.has(status ?? 0)) {
    const { text, isSchemaFault } = containerMessage(original);
    if (isSchemaFault || OUR_FAULTS.test(text)) return new MistranslatedRequest(kind, original);
    return new RefusedByModel(publicText(text), names);
  }
  if (error instanceof ErrorInStream && status === 500 && NEEDS_RUNTIME.test(sent) && containerMessage(original).text === '')
    return new RefusedByModel(NO_REASON, names, null);
  if (ErrorCode === 'ModelInvocationTimeExceeded' || (thrown.name === 'ModelError' && TIMED_OUT.test(original)))
    return failed('upstream_timeout');
  if (thrown.name === 'ValidationError' && NOT_FOUND.test(thrown.message ?? '')) return failed('model_not_ready');
  if (thrown.name === 'ValidationError' && NO_CAPACITY.test(thrown.message ?? '')) return failed('no_capacity');
  if (error instanceof DamagedReply) return new BrokenAtWork(error);
  if (isBrokenConnection(error)) return failed('upstream_error');
  return failed(byName[thrown.name ?? ''] ?? 'upstream_error');
};

// The body is OpenAI's, FastAPI's or plain text.
const containerMessage = (body: string): { text: string; isSchemaFault: boolean } => {
  try {
    const parsed = JSON.parse(body) as { error?: { message?: unknown } | string; message?: unknown; detail?: unknown };
    const nested = typeof parsed.error === 'object' ? parsed.error?.message : parsed.error;
    const message = nested ?? parsed.message ?? parsed.detail;
    // Anything but text is a list of schema errors, which is for us and not for callers.
    return { text: typeof message === 'string' ? message : '', isSchemaFault: message !== undefined && typeof message !== 'string' };
  } catch {
    return { text: body, isSchemaFault: false };
  }
};

const MAX_TEXT = 1_000;
const GENERIC = 'The model rejected the request.';

// Newer versions of vLLM append the field in their terms, and its whole value.
const APPENDED_PARAMETER = / \(parameter=.*$/s;

/** A container's message without account ids, ARNs, URLs and file paths; a generic message instead of a traceback. */
export const publicText = (text: string): string => {
  if (!text.trim() || /Traceback|^\s+at /m.test(text)) return GENERIC;
  // Cut first, because the search can be quadratic for hostile text; cut at twice the length, so that the final cut
  // splits nothing internal.
  return redact(text.slice(0, 2 * MAX_TEXT).replace(APPENDED_PARAMETER, '')).slice(0, MAX_TEXT);
};
