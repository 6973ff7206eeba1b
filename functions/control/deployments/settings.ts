import type { Deployment, Serving } from '../../../shared/deployments/deployment.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import type { Capabilities } from '../../../shared/models/model.ts';
import { checkCounted, checkTask, forTask, TASKS } from '../model-registry/model-task.ts';
import { checkSizes } from '../model-registry/register-model.ts';
import { MAX_MODEL_LEN } from './environment.ts';
import type { DeploymentUpdate, NewDeployment } from './new-deployment.ts';
import type { PlannedGeneration } from './plan-generation.ts';
import type { ServingGeneration } from './rollout.ts';

const DEFAULT_CONTEXT_LENGTH = 8_192;
const DEFAULT_MAX_OUTPUT = 4_096;
const DEFAULT_OUTPUT = 1_024;

/** Returns the numbers of copies; absent ones keep their values. @throws 400 if they contradict each other */
export const copiesOf = (fields: NewDeployment['copies'], before?: Deployment['copies']): Deployment['copies'] => {
  const min = fields.min ?? before?.min ?? 1;
  const max = fields.max ?? before?.max ?? min;
  if (max < min) throw new InvalidValue('copies.max', `expected at least copies.min (${min})`);
  return { min, max };
};

// The environments of all generations that get requests must match the sizes that callers see.
const checked = (serving: Serving, generations: readonly Pick<ServingGeneration, 'number' | 'environment'>[]): Serving => {
  checkSizes(serving);
  for (const { number, environment } of generations) {
    const most = environment[MAX_MODEL_LEN];
    if (most === undefined || serving.context_length <= Number(most)) continue;
    const whose = number === undefined ? 'the environment' : `generation ${number}, which gets requests`;
    throw new InvalidValue('context_length', `expected at most ${MAX_MODEL_LEN} of ${whose} (${most})`);
  }
  return serving;
};

// A runtime of another dialect can't have the task.
const checkRuntime = (task: Serving['task'], { id, dialect }: PlannedGeneration['runtime']): void => {
  if (TASKS[dialect].includes(task)) return;
  const expected = `expected a runtime whose dialect has the task '${task}'; '${id}' has the dialect '${dialect}'`;
  throw new InvalidValue('runtime', `${expected}. GET /v1/runtimes shows the dialects`);
};

/** Returns the model facts that callers of a new deployment see. @throws 400 */
export const newServing = (fields: NewDeployment, { runtime }: Pick<PlannedGeneration, 'runtime'>): Serving => {
  const { task, environment, thinking_variable, continuous_usage, default_temperature, default_top_p, tokenizer, embedding } = fields;
  checkRuntime(task, runtime);
  checkCounted({ dialect: runtime.dialect, tokenizer });
  const context_length = fields.context_length ?? Number(environment[MAX_MODEL_LEN] ?? DEFAULT_CONTEXT_LENGTH);
  const defaultMax = Math.min(context_length, DEFAULT_MAX_OUTPUT);
  const output = task === 'generate' && {
    max_output_tokens: fields.max_output_tokens ?? defaultMax,
    default_output_tokens: fields.default_output_tokens ?? Math.min(fields.max_output_tokens ?? defaultMax, DEFAULT_OUTPUT),
  };
  const { max_output_tokens, default_output_tokens, capabilities } = forTask({ ...fields, ...output, dialect: runtime.dialect });
  const sizes = { context_length, max_output_tokens, default_output_tokens };
  const others = { capabilities, thinking_variable, continuous_usage, default_temperature, default_top_p };
  const optional = { ...(embedding && { embedding }), ...(tokenizer && { tokenizer }) };
  return checked({ task, ...sizes, ...others, ...optional }, [{ environment }]);
};

/**
 * Returns those facts with changes; absent fields keep their values.
 * @param generations those that get requests after the change
 * @throws 400
 */
export const changedServing = (before: Serving, fields: DeploymentUpdate, generations: readonly ServingGeneration[]): Serving => {
  const { tokenizer: oldTokenizer, embedding: oldEmbedding, ...rest } = before;
  const tokenizer = fields.tokenizer === undefined ? oldTokenizer : fields.tokenizer;
  const embedding = fields.embedding ?? oldEmbedding;
  const capabilities = { ...rest.capabilities, ...fields.capabilities } as Capabilities;
  for (const { runtime } of generations) {
    checkRuntime(rest.task, runtime);
    checkTask({ task: rest.task, dialect: runtime.dialect, capabilities, embedding }, fields);
    checkCounted({ dialect: runtime.dialect, tokenizer: tokenizer ?? undefined });
  }
  return checked(
    {
      task: rest.task,
      context_length: fields.context_length ?? rest.context_length,
      max_output_tokens: fields.max_output_tokens ?? rest.max_output_tokens,
      default_output_tokens: fields.default_output_tokens ?? rest.default_output_tokens,
      capabilities,
      thinking_variable: fields.thinking_variable ?? rest.thinking_variable,
      continuous_usage: fields.continuous_usage ?? rest.continuous_usage,
      default_temperature: fields.default_temperature ?? rest.default_temperature,
      default_top_p: fields.default_top_p ?? rest.default_top_p,
      ...(embedding && { embedding }),
      ...(tokenizer && { tokenizer }),
    },
    generations,
  );
};
