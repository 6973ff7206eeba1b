import type { Route } from '../../assembly/local-app.ts';

export interface RouteMatch {
  route: Route;
  /** Still percent-encoded; null if the path has no parameters. */
  pathParameters: Readonly<Record<string, string>> | null;
}

const RANK_EXACT = 0;
const RANK_PARAMETER = 1;
const RANK_GREEDY = 2;

/**
 * Finds the route of a request as API Gateway does: the resource first (an exact segment beats `{name}`, which beats
 * `{name+}`), then its method (a specific one beats ANY). If that resource lacks the method, no other resource is
 * tried.
 * @param pathname starts with `/`, without stage and query string
 */
export const matchRoute = (routes: readonly Route[], method: string, pathname: string): RouteMatch | undefined => {
  const segments = segmentsOf(pathname);
  let best: { resourceId: string; rank: number[]; parameters: Record<string, string> } | undefined;
  for (const { resourceId, pattern } of resourcesOf(routes)) {
    const match = matchPath(pattern, segments);
    if (match && (!best || isBefore(match.rank, best.rank))) best = { resourceId, ...match };
  }
  if (!best) return undefined;
  const candidates = routes.filter(({ resourceId }) => resourceId === best.resourceId);
  const route = candidates.find((candidate) => candidate.method === method) ?? candidates.find((candidate) => candidate.method === 'ANY');
  return route && { route, pathParameters: Object.keys(best.parameters).length > 0 ? best.parameters : null };
};

interface Part {
  text: string;
  /** The parameter's name; undefined: the part is literal. */
  name: string | undefined;
  isGreedy: boolean;
}
interface Resource {
  resourceId: string;
  pattern: readonly Part[];
}

const resources = new WeakMap<readonly Route[], Resource[]>();

// An API has hundreds of routes, whose paths are read once.
const resourcesOf = (routes: readonly Route[]): readonly Resource[] => {
  const known = resources.get(routes);
  if (known) return known;
  const paths = new Map(routes.map(({ resourceId, resourcePath }) => [resourceId, resourcePath]));
  const made = [...paths].map(([resourceId, resourcePath]) => ({ resourceId, pattern: segmentsOf(resourcePath).map(partOf) }));
  resources.set(routes, made);
  return made;
};

const partOf = (text: string): Part => {
  const [, name, plus] = /^\{([^+}]+)(\+?)\}$/.exec(text) ?? [];
  return { text, name, isGreedy: plus === '+' };
};

// API Gateway ignores one trailing slash.
const segmentsOf = (pathname: string): string[] => {
  const trimmed = pathname.replace(/^\//, '').replace(/\/$/, '');
  return trimmed === '' ? [] : trimmed.split('/');
};

const matchPath = (
  pattern: readonly Part[],
  segments: readonly string[],
): { rank: number[]; parameters: Record<string, string> } | undefined => {
  const rank: number[] = [];
  const parameters: Record<string, string> = {};
  for (const [index, { text, name, isGreedy }] of pattern.entries()) {
    const segment = segments[index];
    if (segment === undefined) return undefined;
    if (name === undefined) {
      if (text !== segment) return undefined;
      rank.push(RANK_EXACT);
    } else if (isGreedy) {
      parameters[name] = segments.slice(index).join('/');
      return { rank: [...rank, RANK_GREEDY], parameters };
    } else {
      parameters[name] = segment;
      rank.push(RANK_PARAMETER);
    }
  }
  return segments.length === pattern.length ? { rank, parameters } : undefined;
};

const isBefore = (left: readonly number[], right: readonly number[]): boolean => {
  const differing = left.findIndex((rank, index) => rank !== right[index]);
  return differing >= 0 && (left[differing] ?? RANK_GREEDY) < (right[differing] ?? RANK_GREEDY);
};
