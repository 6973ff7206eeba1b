import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { TestRun } from '../support/clients/local-run.ts';
import type { Caller } from '../support/fixtures/every-kind-of-key.ts';

/** How many requests were admitted, and what was wrong with the replies. */
export interface Traffic {
  requests: number;
  faults: string[];
}

interface Reply {
  status: number;
  text: string;
}

const isWholeChat = (text: string): boolean => JSON.parse(text).choices?.[0]?.message?.content?.length > 0;

// Each request returns the number of usage events that it makes; an Error names the fault of a reply.
const requestsOf = (run: TestRun, { secret }: Caller) => {
  const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Reply> => {
    const response = await fetch(`${run.base_url}${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const get = async (isRight: (text: string) => boolean, ...request: Parameters<typeof send>): Promise<string> => {
    const { status, text } = await send(...request);
    if (status !== 200 || !isRight(text)) throw new Error(`${request[0]} ${request[1]}: ${status} ${text.slice(0, 300)}`);
    return text;
  };
  const chat = {
    model: run.model,
    messages: [{ role: 'user', content: 'Tell me about rivers.' }],
    max_tokens: 6,
    temperature: 1,
    user: 'a-user',
    metadata: { a: 'b' },
  };
  let lastResponse: string | undefined;
  return [
    async () => {
      await get(isWholeChat, 'POST', '/v1/chat/completions', chat);
      return 1;
    },
    async () => {
      await get((text) => text.endsWith('data: [DONE]\n\n'), 'POST', '/v1/chat/completions', { ...chat, stream: true });
      return 1;
    },
    async () => {
      const isWhole = (text: string): boolean => JSON.parse(text).usage.completion_tokens > 0;
      await get(isWhole, 'POST', '/v1/completions', { model: run.model, prompt: 'The river', max_tokens: 5 });
      return 1;
    },
    async () => {
      const body = {
        model: run.model,
        input: 'Go on.',
        max_output_tokens: 16,
        ...(lastResponse && { previous_response_id: lastResponse }),
      };
      const made = JSON.parse(await get((text) => JSON.parse(text).output.length > 0, 'POST', '/v1/responses', body));
      const isSame = (text: string): boolean => isDeepStrictEqual(JSON.parse(text).output, made.output);
      await get(isSame, 'GET', `/v1/responses/${made.id}`);
      lastResponse = made.id;
      return 1;
    },
    async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await get(isWholeChat, 'POST', '/v1/chat/completions', chat, headers);
      await get((text) => text === first, 'POST', '/v1/chat/completions', chat, headers);
      return 1;
    },
  ];
};

/**
 * Sends requests of all kinds, one after the other for each caller, while the phases go on.
 * @param phases each begins when the requests of the one before have been sent, and has at least as many requests
 */
export const sendDuring = async (
  run: TestRun,
  callers: readonly Caller[],
  phases: readonly { requests: number; begin: () => Promise<void> }[],
): Promise<Traffic> => {
  const traffic: Traffic = { requests: 0, faults: [] };
  let [sent, isOver] = [0, false];
  const reached = { count: Number.POSITIVE_INFINITY, resolve: (): void => undefined };
  const call = async (caller: Caller): Promise<void> => {
    const requests = requestsOf(run, caller);
    for (let i = 0; !isOver; i++) {
      const request = requests[i % requests.length] as (typeof requests)[number];
      try {
        const admitted = await request();
        traffic.requests += admitted;
      } catch (error) {
        traffic.faults.push(String(error));
      }
      sent++;
      if (sent >= reached.count) reached.resolve();
    }
  };
  const calling = callers.map(call);
  for (const { requests, begin } of phases) {
    await begin();
    const { promise, resolve } = Promise.withResolvers<void>();
    Object.assign(reached, { count: sent + requests, resolve });
    await promise;
  }
  isOver = true;
  await Promise.all(calling);
  return traffic;
};
