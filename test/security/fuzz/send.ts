import { Agent, request } from 'node:http';
import type { FuzzedRequest } from './requests.ts';

export interface FuzzedReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

// A valid request can ask for 65,536 tokens, and several of them together keep a model busy for half a minute.
const HANGS_AFTER_MS = 60_000;
// More than any reply has.
const MAX_REPLY_BYTES = 32_000_000;

/** Sends requests over connections that are kept alive, so that a request meets what an earlier one left behind. */
export const createSender = (connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    /** @throws Error if the connection breaks, or the reply does not end in time */
    send: (baseUrl: string, { method, path, headers, body }: FuzzedRequest): Promise<FuzzedReply> =>
      new Promise((resolve, reject) => {
        // Node does not frame the bodies of GET and DELETE by itself.
        const framed = { ...headers, ...(body && { 'content-length': body.length }) };
        const sent = request(baseUrl + path, { method, headers: framed, agent }, (reply) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          reply.on('data', (chunk: Buffer) => {
            chunks.push(chunk);
            bytes += chunk.length;
            if (bytes > MAX_REPLY_BYTES) sent.destroy(new Error(`more than ${MAX_REPLY_BYTES} bytes`));
          });
          reply.once('error', reject);
          reply.once('end', () =>
            resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text: Buffer.concat(chunks).toString('utf8') }),
          );
        });
        sent.setTimeout(HANGS_AFTER_MS, () => sent.destroy(new Error(`nothing for ${HANGS_AFTER_MS} ms`)));
        sent.once('error', reject);
        sent.end(body);
      }),
    close: (): void => agent.destroy(),
  };
};

const MAX_SHOWN = 2_000;

/** The command that sends a request again. */
export const toCurl = (baseUrl: string, { method, path, headers, body }: FuzzedRequest): string => {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const flags = Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => `-H ${quoted(`${name}: ${value}`)}`));
  const data = body ? [`--data-binary ${quoted(body.toString('utf8').slice(0, MAX_SHOWN))}`] : [];
  return ['curl', '-X', method, quoted(baseUrl + path), ...flags, ...data].join(' ');
};
