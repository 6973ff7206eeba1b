import { createResponseStream } from '../../../functions/inference/responses/reply-stream.ts';
import { createResponse } from '../../../functions/inference/responses/reply-whole.ts';
import type { ResponsesRequest } from '../../../functions/inference/responses/request.ts';
import { type ResponseFacts, samplingOf } from '../../../functions/inference/responses/sampling.ts';
import type { ResponseStorage } from '../../../functions/inference/responses/store-response.ts';
import type { StoredResponse } from '../../../shared/responses/response-store.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import { read } from './responses-requests.ts';

export const facts: ResponseFacts = {
  id: 'resp_0123456789abcdefgh',
  created: 1_700_000_000,
  model: 'm',
  requestId: 'req_0123456789abcdefgh',
  organization: 'org_1',
  mayStore: true,
  sampling: { temperature: 0.6, top_p: 0.95 },
};
// The request's model has defaults of its own.
const factsFor = (request: ResponsesRequest): ResponseFacts => ({
  ...facts,
  mayStore: request.body.store !== false,
  sampling: samplingOf(request, { default_temperature: facts.sampling.temperature, default_top_p: facts.sampling.top_p }),
});

export const usage = { prompt_tokens: 5, completion_tokens: 2 };

export interface Event {
  type: string;
  sequence_number: number;
  response: Whole;
  [key: string]: unknown;
}
export interface Whole {
  output: Record<string, unknown>[];
  [key: string]: unknown;
}

export const chunkOf = (delta: object, more: object = {}): UpstreamChunk => ({ choices: [{ index: 0, delta, ...more }] });
export const ended = (finish_reason = 'stop'): UpstreamChunk => chunkOf({}, { finish_reason });
export const callDelta = (index: number, fields: object): UpstreamChunk => chunkOf({ tool_calls: [{ index, ...fields }] });

/** A store with given answers, and what was put into it. */
export const newStorage = (answer: () => boolean = () => true) => {
  const stored: (StoredResponse & { organization: string })[] = [];
  const put = async (organization: string, response: StoredResponse) => {
    if (!answer()) return 'too_large';
    stored.push({ ...(JSON.parse(JSON.stringify(response)) as StoredResponse), organization });
    return 'stored';
  };
  const storage: ResponseStorage = { store: { put }, now: () => 1_700_000_009_500 };
  return { stored, storage };
};

export const parseEvents = (text: string): Event[] =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => {
      const [name = '', data = ''] = event.split('\n');
      const parsed = JSON.parse(data.slice('data: '.length)) as Event;
      if (name !== `event: ${parsed.type}`) throw new Error(`The event ${parsed.type} has the name ${name}.`);
      return parsed;
    });

/** All events of an answer. */
export const stream = async (batches: UpstreamChunk[][], body: object = {}, storage = newStorage().storage): Promise<Event[]> => {
  const request = read({ ...body, stream: true });
  const reply = createResponseStream(request, factsFor(request), storage);
  let text = batches.map(reply.take).join('');
  text += reply.usage(usage);
  await reply.store(usage);
  return parseEvents(text + reply.end());
};

/** The same answer without streaming. */
export const whole = async (batches: UpstreamChunk[][], body: object = {}, storage = newStorage().storage): Promise<Whole> => {
  const request = read({ ...body });
  const reply = createResponse(request, factsFor(request), storage);
  for (const batch of batches) reply.take(batch);
  await reply.store(usage);
  return JSON.parse(JSON.stringify(reply.whole(usage))) as Whole;
};
