import type { LocalApp, RestApi } from '../../assembly/local-app.ts';
import type { Hosts } from '../lambda/environment-variables.ts';
import { type GatewayOptions, startGateway } from './server.ts';

const PORT_OFFSETS: Readonly<Record<keyof Hosts, number>> = { serverless: 0, ondemand: 1, control: 2 };
const NAMES = Object.keys(PORT_OFFSETS) as (keyof Hosts)[];

const hostName = ({ stackName }: RestApi): keyof Hosts | undefined => NAMES.find((name) => stackName.toLowerCase().endsWith(name));

/** @throws Error if a stack's REST API matches none of the hosts, or if there is no serverless host */
export const assertServed = ({ apis }: LocalApp): void => {
  const unknown = apis.find((api) => hostName(api) === undefined);
  if (unknown) throw new Error(`The REST API of stack ${unknown.stackName} matches none of the hosts: ${NAMES.join(', ')}`);
  if (!apis.some((api) => hostName(api) === 'serverless')) throw new Error('The assembly has no stack whose name ends in serverless');
};

/**
 * Starts a gateway for each REST API, one after the other.
 * @param options.port port of the serverless host; on-demand and control use the next two. 0 picks free ports
 * @param started closes the gateways when it is disposed
 * @throws Error with code EADDRINUSE if a port is in use
 */
export const startHosts = async (
  { apis }: LocalApp,
  options: Omit<GatewayOptions, 'api'>,
  started: AsyncDisposableStack,
): Promise<Hosts> => {
  const start = async (name: keyof Hosts): Promise<string | null> => {
    const api = apis.find((candidate) => hostName(candidate) === name);
    if (!api) return null;
    const gateway = await startGateway({ ...options, api, port: options.port === 0 ? 0 : options.port + PORT_OFFSETS[name] });
    started.defer(gateway.close);
    return gateway.url;
  };
  return { serverless: (await start('serverless')) as string, ondemand: await start('ondemand'), control: await start('control') };
};
