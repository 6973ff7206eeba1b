import { apiUrl } from './address.ts';
import { ApiFailure, failureOf } from './api-failure.ts';
import { fetchReply, jsonOf } from './fetch-reply.ts';
import { proveIdentity } from './proof.ts';
import type { CallOptions, ReplyBody, RouteName, TrialBody } from './routes.ts';
import { accessToken, refresh } from './session.ts';

type AnyOptions = {
  parameters?: Readonly<Record<string, string>> | undefined;
  body?: unknown;
  query?: Readonly<Record<string, unknown>> | undefined;
  version?: number | undefined;
  idempotencyKey?: string;
  keepalive?: boolean;
  signal?: AbortSignal;
};

// Lists are repeated, and records have their keys in brackets: `metadata[team]=search`.
const append = (parameters: URLSearchParams, name: string, value: unknown): void => {
  if (value === undefined || value === null || value === '') return;
  if (Array.isArray(value)) for (const one of value) append(parameters, name, one);
  else if (typeof value === 'object') for (const [key, one] of Object.entries(value)) append(parameters, `${name}[${key}]`, one);
  else parameters.append(name, String(value));
};

const urlOf = (path: string, { parameters = {}, query = {} }: AnyOptions): URL => {
  const filled = path.replace(/\{(\w+)(\+?)\}/g, (_, name: string, rest: string) => {
    const value = parameters[name] ?? '';
    return rest ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
  });
  const url = apiUrl(filled);
  for (const [name, value] of Object.entries(query)) append(url.searchParams, name, value);
  return url;
};

const send = async (name: string, options: AnyOptions, token: string): Promise<Response> => {
  const [method = 'GET', path = '/'] = name.split(' ');
  const { body, version, idempotencyKey, keepalive = false, signal } = options;
  return fetchReply(urlOf(path, options), {
    method,
    credentials: 'omit',
    keepalive,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(version !== undefined && { 'if-match': `"${version}"` }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
};

// A token can end before its time, for example when all sessions of the user were ended.
const sendWithSession = async (name: string, options: AnyOptions): Promise<Response> => {
  const response = await send(name, options, await accessToken());
  return response.status === 401 ? send(name, options, await refresh()) : response;
};

const reply = async (name: string, options: AnyOptions): Promise<Response> => {
  const response = await sendWithSession(name, options);
  if (response.ok) return response;
  const failure = await failureOf(response);
  if (failure.code !== 'fresh_login_required') throw failure;
  await proveIdentity();
  const again = await sendWithSession(name, options);
  if (!again.ok) throw await failureOf(again);
  return again;
};

/**
 * Calls a route of the control plane as the signed-in user. If the route asks for a recent proof of who they are, the
 * user is asked for their password first. @throws ApiFailure
 */
export const request = async <Name extends RouteName>(name: Name, options: CallOptions<Name>): Promise<ReplyBody<Name>> =>
  (await jsonOf(await reply(name, options as AnyOptions))) as ReplyBody<Name>;

// The routes that can be asked what a request would do.
type TrialName = { [Name in RouteName]: TrialBody<Name> extends undefined ? never : Name }[RouteName];

/**
 * Asks a route what a request would do, which changes nothing.
 * @returns the reply to `validate_only`
 * @throws ApiFailure
 */
export const requestTrial = async <Name extends TrialName>(name: Name, options: CallOptions<Name>): Promise<TrialBody<Name>> => {
  const { body, ...others } = options as AnyOptions;
  return (await jsonOf(await reply(name, { ...others, body: { ...(body as object), validate_only: true } }))) as TrialBody<Name>;
};

/** The whole reply of a route, for its text and its headers. @throws ApiFailure */
export const requestReply = <Name extends RouteName>(name: Name, options: CallOptions<Name>): Promise<Response> =>
  reply(name, options as AnyOptions);

/** True for a failure that a repetition can mend. */
export const isTransient = (error: unknown): boolean => error instanceof ApiFailure && (error.status === 0 || error.status === 503);
