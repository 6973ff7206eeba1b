import type { Serve } from './pipeline.ts';

/** One function for several routes: the request's path says which. That API Gateway sends no others is the template's word. */
export const byPath =
  (routes: Readonly<Record<string, Serve>>): Serve =>
  (event, clock) => {
    const serve = Object.hasOwn(routes, event.path) ? routes[event.path] : undefined;
    if (!serve) throw new Error(`The path ${event.path} is integrated with this function, which has no such route.`);
    return serve(event, clock);
  };
