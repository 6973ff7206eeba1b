import type { Case } from './cases.ts';
import { judge } from './compare.ts';
import { type Reply, readStream, readWhole } from './reply.ts';
import type { Finding } from './report.ts';

const TIMEOUT_MS = 120_000;
const MAX_TOKENS = 64;

/** Where requests are sent, and under which name its model is known. */
export interface Server {
  url: string;
  model: string;
  key?: string;
  isVllm?: boolean;
}

// vLLM ignores `thinking` but takes the variable that Sluice sets for it.
const thinkingOf = (body: Case['body'], { isVllm }: Server): object =>
  isVllm ? { chat_template_kwargs: { enable_thinking: 'thinking' in body } } : {};

const ask = async (server: Server, body: Case['body'], stream: boolean): Promise<Reply> => {
  const { url, model, key = 'none' } = server;
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'x-api-key': key },
    body: JSON.stringify({ model, max_tokens: MAX_TOKENS, temperature: 0, stream, ...body, ...thinkingOf(body, server) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.includes('text/event-stream');
  return isStream ? readStream(response.status, text) : readWhole(response.status, text);
};

/**
 * Sends each request to both servers, whole and streamed, one after the other.
 * @throws Error if a server can't be reached or does not answer within two minutes
 */
export const measure = async ({ vllm, sluice }: { vllm: Server; sluice: Server }, cases: readonly Case[]): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const { label, body, reasons } of cases)
    for (const stream of [false, true]) {
      const replies = { vllm: await ask(vllm, body, stream), sluice: await ask(sluice, body, stream) };
      findings.push({ label: `${label}, ${stream ? 'streamed' : 'whole'}`, differences: judge(replies.vllm, replies.sluice, reasons) });
    }
  return findings;
};
