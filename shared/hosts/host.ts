import { environmentVariable } from '../environment/environment-variable.ts';

// The two kinds of hosts that serve models, and of API keys: a key is valid on the host of its own scope.
const SCOPES = ['serverless', 'on_demand'] as const;
export type HostScope = (typeof SCOPES)[number];

/** The host that serves a request. */
export interface Host {
  scope: HostScope;
  /** The URL of the other host, for callers whose key belongs there; absent if unknown. */
  otherUrl?: string;
}

/** The host that this function serves, from its environment. */
export const hostOfEnvironment = (): Host => {
  const name = environmentVariable('HOST_SCOPE');
  const scope = SCOPES.find((known) => known === name);
  if (!scope) throw new Error(`HOST_SCOPE must be one of ${SCOPES.join(', ')}, not '${name}'.`);
  const { OTHER_HOST_URL: otherUrl } = process.env;
  return { scope, ...(otherUrl && { otherUrl }) };
};
