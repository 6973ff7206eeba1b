import { type Agent, type IncomingHttpHeaders, request } from 'node:http';

const TEXT = /"(?:content|text|delta)":"[^"]/;

export interface Call {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Disconnects at the first text of the reply. */
  disconnects?: boolean;
}

export interface Exchange {
  status: number;
  headers: IncomingHttpHeaders;
  latencyMs: number;
  /** The time to the first text of a model; undefined if there was none. */
  firstTokenMs: number | undefined;
  /** The number of writes of the server: fewer than events if it wrote several at once. */
  writes: number;
  text: string;
  /** The caller disconnected before the end. */
  isCut: boolean;
}

/**
 * Sends a request over a connection of the agent and reads the reply to its end, whatever its status.
 * @param silenceMs the longest silence of the server
 * @throws Error if the server is silent for longer, or breaks the reply off
 */
export const exchange = (
  { method, url, headers, body = '', disconnects = false }: Call,
  agent: Agent,
  silenceMs: number,
): Promise<Exchange> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const contentHeaders = method === 'POST' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const outgoing = request(url, { method, agent, timeout: silenceMs, headers: { ...contentHeaders, ...headers } });
    outgoing.once('response', (response) => {
      let text = '';
      let writes = 0;
      let firstTokenMs: number | undefined;
      const end = (isCut: boolean): void =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          latencyMs: performance.now() - startedAt,
          firstTokenMs,
          writes,
          text,
          isCut,
        });
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        writes += 1;
        if (firstTokenMs !== undefined || !TEXT.test(text)) return;
        firstTokenMs = performance.now() - startedAt;
        if (!disconnects) return;
        end(true);
        outgoing.destroy();
      });
      response.once('error', reject);
      response.once('end', () => end(false));
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error(`${url}: silent for ${silenceMs} ms`)));
    outgoing.once('error', reject);
    outgoing.end(body);
  });
