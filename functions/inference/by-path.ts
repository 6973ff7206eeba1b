import type { Serve } from './pipeline/pipeline.ts';

/**
 * One function for several routes: the resource that API Gateway found says which. `event.path` is as the caller sent it, also with a slash at its end
 * or with the base path of a custom domain. That no other resources lead here is the template's word.
 */
export const byPath =
  (routes: Readonly<Record<string, Serve>>): Serve =>
  (event, clock) => {
    const { resource } = event;
    const serve = Object.hasOwn(routes, resource) ? routes[resource] : undefined;
    if (!serve) throw new Error(`The resource ${resource} is integrated with this function, which has no such route.`);
    return serve(event, clock);
  };
