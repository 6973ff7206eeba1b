import { environmentVariable } from '../environment/environment-variable.ts';

/** The host that a function serves, from its environment, and where the other one is if that is known. */
export const hostOfEnvironment = (): { scope: 'serverless' | 'on_demand'; otherUrl?: string } => {
  const scope = environmentVariable('HOST_SCOPE');
  if (scope !== 'serverless' && scope !== 'on_demand') throw new Error(`HOST_SCOPE is '${scope}', which is no host.`);
  const { OTHER_HOST_URL: otherUrl } = process.env;
  return { scope, ...(otherUrl && { otherUrl }) };
};
