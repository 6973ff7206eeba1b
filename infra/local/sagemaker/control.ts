import type { ServerResponse } from 'node:http';
import { Settings, type SettingsHolder } from './settings.ts';

/** Serves `/control`: PUT replaces the settings (missing ones get their defaults), DELETE resets them, GET returns them. */
export const serveControl = (settings: SettingsHolder, method: string, body: Buffer, response: ServerResponse): void => {
  if (method === 'PUT') {
    const parsed = Settings.safeParse(parseJson(body));
    if (!parsed.success) {
      send(response, 400, { message: 'Invalid settings', issues: parsed.error.issues });
      return;
    }
    settings.set(parsed.data);
  } else if (method === 'DELETE') {
    settings.set(Settings.parse({}));
  } else if (method !== 'GET') {
    send(response, 405, { message: 'Use GET, PUT or DELETE' });
    return;
  }
  send(response, 200, settings.get());
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
