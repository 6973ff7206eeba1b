import { randomBytes } from 'node:crypto';
import type { Model, Target } from '../../../shared/models/model.ts';
import { textOf } from '../../../shared/upstream/chunk.ts';
import { sentAs } from '../../../shared/upstream/dialect.ts';
import { dialectOf } from '../../../shared/upstream/dialects.ts';
import type { StructuredReport } from './registration-report.ts';
import { type ProbeDependencies, sendChatProbe } from './send-probe.ts';

// Enough for the answer, and for a little reasoning of models that can't leave it out.
const MAX_TOKENS = 256;

const ON = 'Set capabilities.structured_outputs to let callers send a JSON Schema.';
const OFF = 'Leave capabilities.structured_outputs off, or configure the structured outputs of the runtime.';

/** True if the dialect of a model can send a JSON Schema to its runtime. */
export const sendsSchemas = ({ task, dialect }: Pick<Model, 'task' | 'dialect'>): boolean =>
  task === 'generate' && sentAs('response_format', dialectOf({ dialect }).fields.response_format) !== undefined;

const fieldsFor = ({ dialect, thinking_variable }: Model, word: string): Record<string, unknown> => {
  const thinking = sentAs('thinking', dialectOf({ dialect }).fields.thinking);
  const schema = { type: 'object', properties: { v: { type: 'string', enum: [word] } }, required: ['v'], additionalProperties: false };
  return {
    response_format: { type: 'json_schema', json_schema: { name: 'probe', schema, strict: true } },
    ...(thinking !== undefined && { [thinking]: { [thinking_variable]: false } }),
  };
};

const holds = (answer: string, word: string): boolean => {
  try {
    return (JSON.parse(answer) as { v?: unknown } | null)?.v === word;
  } catch {
    return false;
  }
};

/**
 * Requests an answer that follows a JSON Schema with a random word, which a model can only know from the schema.
 * @returns `works`: null if the model's reasoning left no room for an answer
 */
export const probeStructured = async (deps: ProbeDependencies, model: Model, target: Target): Promise<StructuredReport> => {
  const word = randomBytes(6).toString('hex');
  let answer = '';
  let isCutOff = false;
  const sent = await sendChatProbe(deps, model, target, {
    kind: 'a short chat request with a JSON Schema',
    maxTokens: MAX_TOKENS,
    fields: fieldsFor(model, word),
    take: ({ choices }) => {
      for (const { delta, finish_reason } of choices ?? []) {
        answer += textOf(delta?.content);
        isCutOff ||= finish_reason === 'length';
      }
    },
  });
  if ('failure' in sent) return { works: false, detail: `${sent.failure} ${OFF}` };
  const where = `The container on '${target.endpoint}'`;
  if (holds(answer, word))
    return { works: true, detail: `${where} followed a JSON Schema.${model.capabilities.structured_outputs ? '' : ` ${ON}`}` };
  if (isCutOff && answer === '')
    return {
      works: null,
      detail: `${where} was still reasoning after ${MAX_TOKENS} tokens, so its answer is unknown. Try a JSON Schema yourself.`,
    };
  return { works: false, detail: `${where} did not follow a JSON Schema. ${OFF}` };
};

/** The result for a whole model: the first target that does not work, or is unknown, decides. */
export const decisive = (reports: readonly StructuredReport[]): StructuredReport | null =>
  reports.find(({ works }) => works === false) ?? reports.find(({ works }) => works === null) ?? reports[0] ?? null;
