import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { LoginFault } from './login-fault.ts';

const STATE = /^[\w-]{43}$/;
const MAX_CODE_CHARACTERS = 4_096;
const MAX_ISSUER_CHARACTERS = 512;

/** The answer of an identity provider: a code, or the reason why there is none. */
export interface CallbackParameters {
  state: string;
  /** RFC 9207. */
  issuer: string | undefined;
  answer: { code: string } | { error: string };
}

// An error code that RFC 6749 allows, section 4.1.2.1; a provider's own text is not shown.
const errorCodeOf = (text: string): string => (/^[\w.-]{1,64}$/.test(text) ? text : 'unknown_error');

const answerOf = (code: string | undefined, error: string | undefined): CallbackParameters['answer'] | undefined => {
  if (error !== undefined) return code === undefined ? { error: errorCodeOf(error) } : undefined;
  return code !== undefined && code.length > 0 && code.length <= MAX_CODE_CHARACTERS ? { code } : undefined;
};

/** Reads the query of a callback. A parameter that is sent twice makes it invalid. */
export const readCallback = ({
  queryStringParameters,
  multiValueQueryStringParameters,
}: Pick<ApiEvent, 'queryStringParameters' | 'multiValueQueryStringParameters'>): CallbackParameters | { fault: LoginFault } => {
  const { state = '', code, error, iss } = queryStringParameters ?? {};
  const isRepeated = ['state', 'code', 'error', 'iss'].some((name) => (multiValueQueryStringParameters?.[name]?.length ?? 0) > 1);
  const answer = answerOf(code, error);
  if (isRepeated || !answer || !STATE.test(state) || (iss?.length ?? 0) > MAX_ISSUER_CHARACTERS) return { fault: 'callback_malformed' };
  return { state, issuer: iss, answer };
};

/**
 * Returns true if the answer comes from the issuer to which the user was sent (RFC 9207, section 2.4). An issuer that
 * says that it names itself must do so.
 */
export const isFromIssuer = (named: string | undefined, { issuer, namesItself }: { issuer: string; namesItself: boolean }): boolean =>
  named === undefined ? !namesItself : named === issuer;
