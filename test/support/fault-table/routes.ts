import type { HostName } from '../hosts.ts';

/** One kind of request of the fault table. Each cell sends it with a key of its own. */
export interface TableRoute {
  name: string;
  host: HostName;
  path: string;
  /** undefined: a GET without a key. */
  body?: Readonly<Record<string, unknown>>;
  /** Whether a complete reply is charged. Tokenization is admitted, so it has an event, but it is free. */
  isCharged: boolean;
  stream: boolean;
}

const MAX_TOKENS = 8;
const sampling = { temperature: 0, ignore_eos: true };
const chat = { ...sampling, messages: [{ role: 'user', content: 'Hello' }], max_tokens: MAX_TOKENS };
const completion = { ...sampling, prompt: 'Hello', max_tokens: MAX_TOKENS };
const response = { temperature: 0, input: 'Hello', max_output_tokens: 16 };

const wholeAndStream = (name: string, host: HostName, path: string, body: Record<string, unknown>): TableRoute[] =>
  [false, true].map((stream) => ({ name, host, path, stream, isCharged: true, body: { ...body, stream } }));

/** The routes of the table, in its order. */
export const TABLE_ROUTES: readonly TableRoute[] = [
  ...wholeAndStream('chat completions', 'serverless', '/v1/chat/completions', chat),
  ...wholeAndStream('completions', 'serverless', '/v1/completions', completion),
  ...wholeAndStream('responses', 'serverless', '/v1/responses', response),
  ...wholeAndStream('chat completions', 'on-demand', '/v1/chat/completions', chat),
  ...wholeAndStream('responses', 'on-demand', '/v1/responses', response),
  { name: 'tokenize', host: 'serverless', path: '/tokenize', body: { prompt: 'Hello' }, isCharged: false, stream: false },
  { name: 'detokenize', host: 'serverless', path: '/detokenize', body: { tokens: [48, 49] }, isCharged: false, stream: false },
  { name: 'models', host: 'serverless', path: '/v1/models', isCharged: false, stream: false },
];
