// Bundles import this instead of node:http: the ESM face of that module touches lazy exports and costs 25 ms at a cold start.
import { createRequire } from 'node:module';

const http = createRequire(import.meta.url)('node:http');
export default http;
export const { request, get, Agent, globalAgent, STATUS_CODES, METHODS, createServer, IncomingMessage, ServerResponse, ClientRequest } =
  http;
