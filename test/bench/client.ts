import { Agent, request } from 'node:http';

const MAX_SOCKETS = 64;
const TIMEOUT_MS = 15_000;

const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });

/** A server of chat completions. */
export interface Server {
  url: string;
  headers: Record<string, string>;
}

export interface Answer {
  latencyMs: number;
  /** The time to the first event with text; only for streams. */
  firstTokenMs: number | undefined;
  /** The number of server-sent events without `[DONE]`; only for streams. */
  chunks: number;
  /** The number of writes of the server: fewer than chunks if it wrote several at once. */
  writes: number;
  text: string;
}

const HAS_TEXT = /"content":"[^"]/;

/**
 * Posts a body to a server over a keep-alive connection and reads the reply to its end.
 * @throws Error for a status other than the expected one, and for 15 s of silence
 */
export const ask = ({ url, headers }: Server, body: string, status = 200): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const outgoing = request(url, {
      method: 'POST',
      agent,
      timeout: TIMEOUT_MS,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
    });
    outgoing.once('response', (response) => {
      let text = '';
      let writes = 0;
      let firstTokenMs: number | undefined;
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        writes += 1;
        if (firstTokenMs === undefined && HAS_TEXT.test(text)) firstTokenMs = performance.now() - startedAt;
      });
      response.once('error', reject);
      response.once('end', () => {
        const latencyMs = performance.now() - startedAt;
        if (response.statusCode !== status) reject(new Error(`${url}: ${response.statusCode} ${text}`));
        else resolve({ latencyMs, firstTokenMs, chunks: text.split('\n\ndata: {').length, writes, text });
      });
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error(`${url}: silent for ${TIMEOUT_MS} ms`)));
    outgoing.once('error', reject);
    outgoing.end(body);
  });
