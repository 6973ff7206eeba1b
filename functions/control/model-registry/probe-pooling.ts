import type { Model, Target } from '../../../shared/models/model.ts';
import type { BodyFacts } from '../../../shared/upstream/request-body.ts';
import { type Finding, failing, passing } from './finding.ts';
import { type ProbeDependencies, sendProbe } from './send-probe.ts';

/** The text of the shortest request for vectors or scores. */
export const PROBE_TEXT = 'Hi';

const FLOAT_BYTES = 4;

interface PoolingProbe {
  kind: string;
  bodyOf: (facts: Omit<BodyFacts, 'maxTokens'>) => Record<string, unknown>;
  // Undefined if the reply is as expected.
  faultOf: (reply: PoolingReply, model: Model) => string | undefined;
}

// The fields that are read of vLLM's replies; those of TEI are lists of vectors or of scores.
interface VllmReply {
  data?: { embedding?: unknown }[];
  results?: { relevance_score?: unknown }[];
  usage?: { prompt_tokens?: unknown } | null;
}
type PoolingReply = VllmReply & (unknown[] | object);

const vllmFields = ({ containerModel, requestId, cacheSalt }: Omit<BodyFacts, 'maxTokens'>) => ({
  model: containerModel,
  cache_salt: cacheSalt,
  request_id: requestId,
});

const lengthOf = (vector: unknown): number | undefined => {
  if (typeof vector === 'string') return Buffer.byteLength(vector, 'base64') / FLOAT_BYTES;
  return Array.isArray(vector) ? vector.length : undefined;
};

const vectorFault = (vector: unknown, { embedding }: Model): string | undefined => {
  const length = lengthOf(vector);
  if (length === undefined) return 'The container answered without a vector. Check the task of the model that it serves.';
  if (length === embedding?.dimensions) return undefined;
  return `The container's vectors have ${length} dimensions, but embedding.dimensions is ${embedding?.dimensions}. Correct it.`;
};

const scoreFault = (score: unknown): string | undefined =>
  typeof score === 'number' ? undefined : 'The container answered without a score. Check the task of the model that it serves.';

const EMBED = 'a request for one embedding';
const RERANK = 'a request to rank one document';

const PROBES: Readonly<Record<'embed' | 'rerank', Record<'vllm' | 'tei', PoolingProbe>>> = {
  embed: {
    vllm: {
      kind: EMBED,
      bodyOf: (facts) => ({ ...vllmFields(facts), input: [PROBE_TEXT], encoding_format: 'base64' }),
      faultOf: ({ data }, model) => vectorFault(data?.[0]?.embedding, model),
    },
    tei: {
      kind: EMBED,
      bodyOf: () => ({ inputs: [PROBE_TEXT] }),
      faultOf: (reply, model) => vectorFault(Array.isArray(reply) ? reply[0] : undefined, model),
    },
  },
  rerank: {
    vllm: {
      kind: RERANK,
      bodyOf: (facts) => ({ ...vllmFields(facts), query: PROBE_TEXT, documents: [PROBE_TEXT] }),
      faultOf: ({ results }) => scoreFault(results?.[0]?.relevance_score),
    },
    tei: {
      kind: RERANK,
      bodyOf: () => ({ query: PROBE_TEXT, texts: [PROBE_TEXT] }),
      faultOf: (reply) => scoreFault(Array.isArray(reply) ? (reply[0] as { score?: unknown } | null)?.score : undefined),
    },
  },
};

const readReply = (body: Buffer | undefined): PoolingReply => {
  try {
    return Object(JSON.parse(body?.toString() ?? '')) as PoolingReply;
  } catch {
    return {};
  }
};

/**
 * Requests one vector or score from a target, through the code that sends callers' requests.
 * @returns the duration of the answer and the container's count of the text, or the reason of its failure
 */
export const probePooling = async (deps: ProbeDependencies, model: Model, target: Target): Promise<Finding> => {
  const { kind, bodyOf, faultOf } = PROBES[model.task === 'rerank' ? 'rerank' : 'embed'][model.dialect === 'tei' ? 'tei' : 'vllm'];
  let reply: PoolingReply = {};
  const take = ({ body }: { body?: Buffer }): void => {
    reply = readReply(body);
  };
  const sent = await sendProbe(deps, model, target, { kind, bodyOf, take });
  if ('failure' in sent) return failing(sent.failure);
  const fault = faultOf(reply, model);
  if (fault !== undefined) return failing(fault);
  const { prompt_tokens: tokens } = reply.usage ?? {};
  const answered = passing(`The container answered ${kind} in ${sent.durationMs} ms.`);
  return model.task === 'embed' && typeof tokens === 'number' ? { ...answered, promptTokens: tokens } : answered;
};
