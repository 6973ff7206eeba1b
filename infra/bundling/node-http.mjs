// Bundles import this instead of node:http, whose ESM wrapper loads its lazy exports and adds 25 ms to a cold start.
import { createRequire } from 'node:module';

const http = createRequire(import.meta.url)('node:http');
export default http;
export const { request, get, Agent, globalAgent, STATUS_CODES, METHODS, createServer, IncomingMessage, ServerResponse, ClientRequest } =
  http;
