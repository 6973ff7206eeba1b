import { type ApiEvent, requestedPath } from './api-event.ts';
import { isBrowserPath, withoutCors } from './browser-path.ts';
import { ApiError } from './errors.ts';
import { isMessagesPath } from './messages-path.ts';
import { preflightReply, type Reply } from './reply.ts';

/** Answers a request. `event.pathParameters` has the path's parameters, decoded. */
export type Handle = (event: ApiEvent) => Promise<Reply>;

/**
 * The routes of a host by path and method. A path can have parameters as in API Gateway: `{id}` is one segment,
 * `{model+}` the rest of the path. If two paths match, the first one is used. `elsewhere` marks methods that another
 * function serves, so that `Allow` is complete.
 */
export type Routes = Record<string, Record<string, Handle | 'elsewhere'>>;

// Most paths begin with it.
const VERSION = '/v1';

const isWithoutVersion = (meant: string): boolean => !meant.startsWith(`${VERSION}/`);

// Anthropic's and Cohere's own clients add the whole path to their base URL, others only what follows `/v1`.
const baseUrlFor = (path: string, meant: string): string =>
  isWithoutVersion(meant) || (isMessagesPath(meant) && path.endsWith(meant))
    ? 'have no path'
    : `end with ${VERSION} once, and with no other path`;

export class NotFound extends ApiError {
  /** @param meant the path of a route that was probably meant */
  constructor(method: string, path: string, meant?: string) {
    const hint =
      meant === undefined
        ? 'GET /docs lists its routes.'
        : `Did you mean ${method} ${meant.slice(0, 200)}? If you set the base URL of a client, it must ${baseUrlFor(path, meant)}.`;
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'not_found',
      message: `This host has no route ${method} ${path.slice(0, 200)}. ${hint}`,
    });
  }
}

class MethodNotAllowed extends ApiError {
  constructor(method: string, path: string, allow: string[]) {
    super({
      status: 405,
      type: 'invalid_request_error',
      code: 'method_not_allowed',
      message: `${path.slice(0, 200)} does not support ${method}. Use ${allow.join(', ')}.`,
      headers: { allow: allow.join(', ') },
    });
  }
}

// Invalid encoding is left as it is.
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const parametersOf = (routePath: string, path: string): Record<string, string> | undefined => {
  const parts = routePath.split('/');
  const segments = path.split('/');
  const parameters: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    const [, name, greedy] = /^\{(\w+)(\+?)\}$/.exec(part) ?? [];
    const text = greedy ? segments.slice(i).join('/') : segments[i];
    if (name === undefined ? text !== part : !text) return undefined;
    if (name !== undefined && text) parameters[name] = decoded(text);
    if (greedy) return parameters;
  }
  return segments.length === parts.length ? parameters : undefined;
};

// More than a route and a wrong base URL have together.
const MAX_SEGMENTS = 12;

// A wrong base URL has no `/v1` or several, two slashes, or the path of a route, to which the client adds another one.
const pathsMeantBy = (path: string): string[] => {
  const segments = path.split('/', MAX_SEGMENTS).filter((segment) => segment !== '');
  const rest = segments.slice(segments.lastIndexOf(VERSION.slice(1)) + 1);
  return rest.flatMap((_, i) => [VERSION, ''].map((version) => [version, ...rest.slice(i)].join('/')));
};

/**
 * Serves a host's light routes, and replies to HEAD, OPTIONS, unknown methods (405 with `Allow`) and unknown paths
 * (404).
 * @param absent paths that are unknown too, although the last segment of each could be a parameter
 */
export const route = (routes: Routes, absent: readonly string[] = []): Handle => {
  const find = (path: string) => {
    if (absent.includes(path)) return undefined;
    for (const [routePath, methods] of Object.entries(routes)) {
      const pathParameters = parametersOf(routePath, path);
      if (pathParameters) return { routePath, methods, pathParameters };
    }
    return undefined;
  };
  const notFound = ({ httpMethod, path }: ApiEvent, routed: string): NotFound =>
    new NotFound(
      httpMethod,
      path,
      pathsMeantBy(routed).find((meant) => Object.hasOwn(find(meant)?.methods ?? {}, httpMethod)),
    );
  return async (event) => {
    const path = requestedPath(event);
    const found = find(path);
    if (!found) throw notFound(event, path);
    const { routePath, methods, pathParameters } = found;
    event.routePath = routePath;
    const allow = [...Object.keys(methods), ...(methods.GET ? ['HEAD'] : []), 'OPTIONS'];
    if (event.httpMethod === 'OPTIONS') {
      const reply = preflightReply(event.requestId, allow);
      return isBrowserPath(path) ? withoutCors(reply) : reply;
    }
    // API Gateway drops the body of the reply to HEAD.
    const method = event.httpMethod === 'HEAD' ? 'GET' : event.httpMethod;
    const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
    // API Gateway routes that path to the other function. A variant that arrives here, for instance with two trailing
    // slashes, is unknown.
    if (handle === 'elsewhere') throw notFound(event, path);
    if (!handle) throw new MethodNotAllowed(event.httpMethod, event.path, allow);
    const routed = { ...event, pathParameters };
    // The log line of an error names the sender.
    return handle(routed).finally(() => Object.assign(event, { sender: routed.sender }));
  };
};
