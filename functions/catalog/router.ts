import type { ApiEvent } from '../../shared/http/api-event.ts';
import { ApiError } from '../../shared/http/errors.ts';
import { preflightReply, type Reply } from '../../shared/http/reply.ts';

export type Handle = (event: ApiEvent) => Promise<Reply>;

/** The routes of a host by path and method. `elsewhere` marks what another function serves, so that its methods are known here. */
export type Routes = Record<string, Record<string, Handle | 'elsewhere'>>;

class NotFound extends ApiError {
  constructor(method: string, path: string) {
    super({
      status: 404,
      type: 'invalid_request_error',
      code: 'not_found',
      message: `There is no ${method} ${path.slice(0, 200)} here. See the API reference for the paths of this host.`,
    });
  }
}

class MethodNotAllowed extends ApiError {
  constructor(method: string, path: string, allow: string[]) {
    super({
      status: 405,
      type: 'invalid_request_error',
      code: 'method_not_allowed',
      message: `${path} does not take ${method}. It takes ${allow.join(', ')}.`,
      headers: { allow: allow.join(', ') },
    });
  }
}

/** Serves a host's light routes, and everything that is no route at all: HEAD, OPTIONS, 405 with `Allow`, 404. */
export const route =
  (routes: Routes): Handle =>
  async (event) => {
    const path = event.path.length > 1 ? event.path.replace(/\/+$/, '') : event.path;
    const methods = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (!methods) throw new NotFound(event.httpMethod, event.path);
    const allow = [...Object.keys(methods), ...(methods.GET ? ['HEAD'] : []), 'OPTIONS'];
    if (event.httpMethod === 'OPTIONS') return preflightReply(event.requestId, allow);
    // The gateway sends no body with the answer to HEAD.
    const handle = methods[event.httpMethod === 'HEAD' ? 'GET' : event.httpMethod];
    if (typeof handle !== 'function') throw new MethodNotAllowed(event.httpMethod, path, allow);
    return handle(event);
  };
