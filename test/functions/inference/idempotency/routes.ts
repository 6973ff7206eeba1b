import type { ReplyForm } from '../../../../functions/inference/chat/reply.ts';
import { createChatStream } from '../../../../functions/inference/chat/reply-stream.ts';
import { createChatCompletion } from '../../../../functions/inference/chat/reply-whole.ts';
import { type CompletionForm, createCompletion, createCompletionStream } from '../../../../functions/inference/completions/reply.ts';
import { createMessageStream } from '../../../../functions/inference/messages/reply-stream.ts';
import { createMessageReply } from '../../../../functions/inference/messages/reply-whole.ts';
import type { ReplyFacts } from '../../../../functions/inference/pipeline/inference-route.ts';
import { createResponseStream } from '../../../../functions/inference/responses/reply-stream.ts';
import { createResponse } from '../../../../functions/inference/responses/reply-whole.ts';
import type { UpstreamChunk, UpstreamUsage } from '../../../../shared/upstream/chunk.ts';
import { newStorage } from '../../../support/clients/responses-replies.ts';
import { read } from '../../../support/clients/responses-requests.ts';

/** The output of a route's two mappers for an answer: the object and the events, as texts. */
export interface Route {
  whole: (chunks: readonly UpstreamChunk[], used?: UpstreamUsage) => string;
  stream: (chunks: readonly UpstreamChunk[], used?: UpstreamUsage) => string;
}

const usage: UpstreamUsage = { prompt_tokens: 5, completion_tokens: 2 };
const factsOf = (id: string, isMeasured: boolean): ReplyFacts => ({
  id,
  created: 1_700_000_000,
  model: 'm',
  requestId: 'req_0123456789abcdefgh',
  organization: 'org_1',
  mayStore: true,
  ...(isMeasured && { perf: () => ({ gateway_time_ms: 3 }) }),
});

interface Mappers {
  toWhole: () => { take: (chunks: readonly UpstreamChunk[]) => void; whole: (used: UpstreamUsage) => unknown };
  toStream: () => { take: (chunks: readonly UpstreamChunk[]) => string; usage: (used: UpstreamUsage) => string; end: () => string };
}

const route = ({ toWhole, toStream }: Mappers): Route => ({
  whole: (chunks, used = usage) => {
    const reply = toWhole();
    reply.take(chunks);
    return JSON.stringify(reply.whole(used));
  },
  stream: (chunks, used = usage) => {
    const reply = toStream();
    return reply.take(chunks) + reply.usage(used) + reply.end();
  },
});

const chat = (form: ReplyForm, isMeasured: boolean): Route => {
  const facts = factsOf('chatcmpl-0123456789abcdefgh', isMeasured);
  return route({ toWhole: () => createChatCompletion(facts, form), toStream: () => createChatStream(facts, form) });
};

const completions = (form: CompletionForm, isMeasured: boolean): Route => {
  const facts = factsOf('cmpl-0123456789abcdefgh', isMeasured);
  return route({ toWhole: () => createCompletion(facts, form), toStream: () => createCompletionStream(facts, form) });
};

const responses = (body: Record<string, unknown>): Route => {
  const facts = { ...factsOf('resp_0123456789abcdefgh', false), sampling: { temperature: 1, top_p: 1 } };
  const request = read(body);
  const { storage } = newStorage();
  return route({
    toWhole: () => createResponse(request, facts, storage),
    toStream: () => createResponseStream(request, facts, storage),
  });
};

const messages = (): Route => {
  const facts = factsOf('msg_0123456789abcdefgh', false);
  return route({ toWhole: () => createMessageReply(facts), toStream: () => createMessageStream(facts) });
};

/** Every route in each of its forms. */
export const routes: [string, Route][] = [
  ['chat with everything', chat({ includeUsage: true, tokenIds: true, isLegacy: false }, true)],
  ['chat with nothing', chat({ includeUsage: false, tokenIds: false, isLegacy: false }, false)],
  ['chat in the deprecated form', chat({ includeUsage: false, tokenIds: true, isLegacy: true }, false)],
  ['completions with everything', completions({ includeUsage: true, tokenIds: true }, true)],
  ['completions with nothing', completions({ includeUsage: false, tokenIds: false }, false)],
  ['responses', responses({})],
  ['responses with a summary', responses({ reasoning: { summary: 'auto' } })],
  ['messages', messages()],
];
