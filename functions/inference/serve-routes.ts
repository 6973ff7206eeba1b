import { inferenceHostRoutes, type OperationsOf } from '../../shared/hosts/inference-routes.ts';
import type { Serve } from './pipeline/dependencies.ts';

type Routes = Readonly<Record<OperationsOf<'inference'>, (path: string) => Serve>>;

/**
 * Serves several routes with one function, by the resource that API Gateway matched: the path can end with a slash or
 * begin with the base path of a custom domain.
 * @param routes create the handlers of their operations from the path
 */
export const serveRoutes = (routes: Routes): Serve => {
  const byPath = new Map(
    Object.entries(routes).map(([id, at]) => {
      const { path } = inferenceHostRoutes[id as keyof Routes];
      return [path as string, at(path)];
    }),
  );
  return (event, clock) => {
    const serve = byPath.get(event.resource);
    if (!serve) throw new Error(`The resource ${event.resource} is integrated with this function, which has no such route.`);
    return serve(event, clock);
  };
};
