import type { ServerResponse } from 'node:http';
import type { Account } from './account.ts';
import { DeploymentSettings } from './control-plane/settings.ts';

/**
 * Serves `/control/deployments`: PUT replaces the settings (missing ones get their defaults), GET returns them and all that exists, DELETE removes
 * everything.
 */
export const serveDeploymentsControl = (account: Account, method: string, body: Buffer, response: ServerResponse): void => {
  if (method === 'PUT') {
    const parsed = DeploymentSettings.safeParse(parseJson(body));
    if (!parsed.success) {
      send(response, 400, { message: 'Invalid settings', issues: parsed.error.issues });
      return;
    }
    account.configure(parsed.data);
  } else if (method === 'DELETE') {
    account.reset();
  } else if (method !== 'GET') {
    send(response, 405, { message: 'Use GET, PUT or DELETE' });
    return;
  }
  send(response, 200, { settings: account.settings(), ...account.proof() });
};

const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
};

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
