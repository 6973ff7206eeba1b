import { Agent } from 'node:http';
import { type Exchange, exchange } from './lib/exchange.ts';

const MAX_SOCKETS = 64;
const SILENCE_MS = 15_000;

const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });

/** A server of chat completions, or of another route. */
export interface Server {
  url: string;
  headers: Record<string, string>;
}

export interface Answer extends Pick<Exchange, 'latencyMs' | 'firstTokenMs' | 'writes' | 'text'> {
  /** The number of server-sent events without `[DONE]`; only for streams. */
  chunks: number;
}

/**
 * Posts a body to a server over a keep-alive connection and reads the reply to its end.
 * @throws Error for a status other than the expected one, and for 15 s of silence
 */
export const ask = async ({ url, headers }: Server, body: string, status = 200): Promise<Answer> => {
  const reply = await exchange({ method: 'POST', url, headers, body }, agent, SILENCE_MS);
  if (reply.status !== status) throw new Error(`${url}: ${reply.status} ${reply.text}`);
  return { ...reply, chunks: reply.text.split('\n\ndata: {').length };
};
