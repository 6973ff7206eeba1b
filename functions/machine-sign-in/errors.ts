import { ApiError, InvalidRequest } from '../../shared/http/errors.ts';

/**
 * 401 for every failed proof, with the same message for every cause:
 * https://www.rfc-editor.org/rfc/rfc6749#section-5.2
 */
export class InvalidClient extends ApiError {
  constructor() {
    super({
      status: 401,
      type: 'authentication_error',
      code: 'invalid_client',
      message:
        'The service account could not be authenticated. Check its id and its secret, or its federation rule. GET /v1/service-accounts/{id}/events tells an owner why an exchange was refused.',
      headers: { 'www-authenticate': 'Basic realm="service accounts"' },
    });
  }
}

/** 400 for a request that no grant can read. */
export const invalidTokenRequest = (message: string, param: string | null = null): InvalidRequest =>
  new InvalidRequest({ code: 'invalid_request', message, param });

/** 400 for a grant type that this host doesn't have. */
export const unsupportedGrantType = (supported: readonly string[]): InvalidRequest =>
  new InvalidRequest({
    code: 'unsupported_grant_type',
    param: 'grant_type',
    message: `This grant type is not supported. Set 'grant_type' to ${supported.map((name) => `'${name}'`).join(' or ')}.`,
  });

/** 400 for a scope: an access token has the rights of its service account. */
export const noScopes = (): InvalidRequest =>
  new InvalidRequest({
    code: 'invalid_scope',
    param: 'scope',
    message: "Scopes are not supported. Leave out 'scope', and set the permissions of the service account instead.",
  });

/** 400 for an API key of a rule that gives none: https://www.rfc-editor.org/rfc/rfc8693#section-2.2.2 */
export const noApiKey = (): InvalidRequest =>
  new InvalidRequest({
    code: 'invalid_target',
    param: 'requested_token_type',
    message: "This federation rule gives no API keys. Leave out 'requested_token_type', or ask an owner to set the rule's 'api_key'.",
  });

/** 400 for an API key of a suspended organization. */
export const suspendedTarget = (): InvalidRequest =>
  new InvalidRequest({
    code: 'invalid_target',
    param: 'requested_token_type',
    message: 'The organization of this service account is suspended, so it gets no API keys. Contact your administrator.',
  });

/** 429 if a rule has all the API keys that it can have at a time, or in a day. */
export class TooManyRuleKeys extends ApiError {
  constructor(seconds: number) {
    super({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: `The API keys of this federation rule are used up: it can have 100 at a time, and 2,000 a day (UTC). Try again in ${seconds} s, or choose a shorter lifetime.`,
      headers: { 'retry-after': String(seconds) },
    });
  }
}
