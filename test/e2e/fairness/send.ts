import { Agent, request as begin } from 'node:http';

// A bound against hanging. API Gateway ends a request to the control plane after half a minute.
const LIMIT_MS = 60_000;
const ADDRESSES = 50;

/** The status and the error's code of a reply, or `lost` if the connection broke or no reply came. */
export interface Received {
  status: number | 'lost';
  code?: string | undefined;
  text: string;
  ms: number;
}

export interface Sent {
  method: string;
  url: string;
  token?: string | undefined;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
}

/** A caller with an address of its own, by which the hosts know it. */
export interface Caller {
  send: (sent: Sent) => Promise<Received>;
  close: () => void;
}

/** The attacker's addresses. All of 127.0.0.0/8 is loopback. */
export const attackersAddresses = (): string[] => Array.from({ length: ADDRESSES }, (_, number) => `127.0.7.${number + 1}`);

const codeOf = (text: string): string | undefined => {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string | null; details?: { error_code?: string | null } } };
    return error?.code ?? error?.details?.error_code ?? undefined;
  } catch {
    return undefined;
  }
};

/** Opens a caller. @param localAddress an address of 127.0.0.0/8 */
export const openCaller = (localAddress: string): Caller => {
  const agent = new Agent({ keepAlive: true, localAddress });
  return {
    send: ({ method, url, token, headers = {}, body }) =>
      new Promise((resolve) => {
        const startedAt = performance.now();
        const end = (status: Received['status'], text = ''): void =>
          resolve({ status, text, code: codeOf(text), ms: performance.now() - startedAt });
        const content = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
        const request = begin(url, {
          method,
          agent,
          timeout: LIMIT_MS,
          headers: {
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
            ...(content !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
            ...headers,
          },
        });
        request.on('error', () => end('lost'));
        request.on('timeout', () => request.destroy(new Error('Nothing came.')));
        request.on('response', (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', () => end('lost'));
          response.on('end', () => end(response.complete ? (response.statusCode ?? 'lost') : 'lost', Buffer.concat(parts).toString()));
        });
        request.end(content);
      }),
    close: () => agent.destroy(),
  };
};
