import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';

const MODEL = 'scripted';
const BYTES_PER_TOKEN = 4;

/** An answer, streamed in small pieces: its reasoning, then its text, then its calls. */
export interface ScriptedAnswer {
  reasoning?: string;
  text?: string;
  /** Arguments are sent as JSON; a string is sent as it is, so that it can be broken. */
  calls?: { id?: string; name: string; arguments: unknown }[];
  /** By default `tool_calls` if there are calls, else `stop`. */
  finish?: string;
  /** vLLM's `stop_reason`: the stop sequence that it met, or the id of a stop token. */
  stopReason?: string | number;
  /** By default a prompt token for 4 bytes of messages and tools, and a completion token for each piece. */
  usage?: { prompt_tokens: number; completion_tokens: number; [detail: string]: unknown };
  /** The number of chunks after which the connection breaks. */
  diesAfterChunks?: number;
  /** The time that it takes for each chunk; 0 by default, so that all of them can arrive at once. */
  chunkDelayMs?: number;
}

/** An error reply as vLLM sends it. */
export interface ScriptedRefusal {
  status: number;
  message: string;
}

/** A chat request as Sluice sends it. */
export interface ScriptedRequest {
  messages: { role: string; content?: unknown; tool_calls?: { id: string; function: { name: string; arguments: string } }[] }[];
  tools?: { type: string; function: { name: string; description?: string; parameters?: unknown } }[];
  [field: string]: unknown;
}

type ScriptedReply = ScriptedAnswer | ScriptedRefusal;
/** A reply, or how to make one from the request. */
export type ScriptedStep = ScriptedReply | ((request: ScriptedRequest) => ScriptedReply);

const piecesOf = (text = ''): string[] => text.match(/[\s\S]{1,16}/g) ?? [];

const callDeltas = ({ calls = [] }: ScriptedAnswer, number: number): object[] =>
  calls.flatMap(({ id, name, arguments: given }, index) => {
    const [first = '', ...rest] = piecesOf(typeof given === 'string' ? given : JSON.stringify(given));
    return [
      { index, id: id ?? `chatcmpl-tool-${number}-${index}`, type: 'function', function: { name, arguments: first } },
      ...rest.map((piece) => ({ index, function: { arguments: piece } })),
    ].map((call) => ({ tool_calls: [call] }));
  });

const chunksOf = (answer: ScriptedAnswer, request: ScriptedRequest, number: number): object[] => {
  const deltas = [
    ...piecesOf(answer.reasoning).map((reasoning) => ({ reasoning })),
    ...piecesOf(answer.text).map((content) => ({ content })),
    ...callDeltas(answer, number),
  ];
  const promptBytes = Buffer.byteLength(JSON.stringify([request.messages, request.tools]));
  const counts = answer.usage ?? { prompt_tokens: Math.ceil(promptBytes / BYTES_PER_TOKEN), completion_tokens: deltas.length };
  const finish_reason = answer.finish ?? (answer.calls?.length ? 'tool_calls' : 'stop');
  const usage = { ...counts, total_tokens: counts.prompt_tokens + counts.completion_tokens };
  return [
    { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason, stop_reason: answer.stopReason ?? null }] },
    { choices: [], usage },
  ].map((chunk) => ({ id: `chatcmpl-${number}`, object: 'chat.completion.chunk', created: 1_790_000_000, model: MODEL, ...chunk }));
};

const write = (response: ServerResponse, text: string): Promise<unknown> => new Promise((resolve) => response.write(text, resolve));

const send = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const refuse = (response: ServerResponse, { status, message }: ScriptedRefusal): void => {
  const error = { message, type: status < 500 ? 'BadRequestError' : 'InternalServerError', param: null, code: status };
  send(response, status, { error });
};

const stream = async (response: ServerResponse, chunks: object[], answer: ScriptedAnswer): Promise<void> => {
  const { diesAfterChunks = Number.POSITIVE_INFINITY, chunkDelayMs = 0 } = answer;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks.slice(0, diesAfterChunks)) {
    await write(response, `data: ${JSON.stringify(chunk)}\n\n`);
    if (chunkDelayMs > 0) await setTimeout(chunkDelayMs);
  }
  if (diesAfterChunks < chunks.length) response.destroy();
  else response.end('data: [DONE]\n\n');
};

/**
 * A runtime with vLLM's chat API that answers each request with the next step, and records the requests. Its `url` is
 * for `--container`. A request without a step gets a 400.
 */
export const startScriptedContainer = async (steps: readonly ScriptedStep[] = []) => {
  const requests: ScriptedRequest[] = [];
  let left = [...steps];
  const server = createServer(async (incoming, response) => {
    if (incoming.method === 'GET') return send(response, 200, { object: 'list', data: [{ id: MODEL, object: 'model' }] });
    const request = (await json(incoming)) as ScriptedRequest;
    const number = requests.push(request);
    const step = left.shift() ?? { status: 400, message: `The script has no step for request ${number}.` };
    const reply = typeof step === 'function' ? step(request) : step;
    if ('status' in reply) return refuse(response, reply);
    await stream(response, chunksOf(reply, request, number), reply);
  });
  const url = await listen(server, 0);
  return {
    url,
    /** The bodies of the requests since the start, or since the last `play`. */
    requests,
    /** Replaces the steps that are left, and forgets the requests. */
    play: (...next: ScriptedStep[]): void => {
      left = next;
      requests.length = 0;
    },
    close: (): Promise<void> => closeServer(server),
  };
};

export type ScriptedContainer = Awaited<ReturnType<typeof startScriptedContainer>>;
