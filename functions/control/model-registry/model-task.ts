import { InvalidValue } from '../../../shared/http/errors.ts';
import type { Capabilities, Model, ModelTask } from '../../../shared/models/model.ts';

/** The tasks that runtimes of each dialect can have. */
export const TASKS: Readonly<Record<Model['dialect'], readonly ModelTask[]>> = {
  vllm: ['generate', 'embed', 'rerank'],
  sluice: ['generate', 'embed', 'rerank'],
  llama_cpp: ['generate'],
  transformers: ['generate'],
  tei: ['embed', 'rerank'],
};

const NO_CAPABILITIES: Capabilities = {
  tools: false,
  json_object: false,
  logprobs: false,
  thinking_budget: false,
  structured_outputs: false,
};

// A row needs them, but no request of a model that generates no text uses them.
const NO_OUTPUT = { max_output_tokens: 1, default_output_tokens: 1 };

type OutputFields = { [Field in keyof typeof NO_OUTPUT]?: number | undefined };
type TaskFields = Pick<Model, 'task' | 'dialect' | 'capabilities'> & { embedding?: Model['embedding'] | undefined };

/**
 * Checks the fields of a model that depend on its task.
 * @param sent the fields as they were sent, without those of its row
 * @throws 400
 */
export const checkTask = ({ task, dialect, capabilities, embedding }: TaskFields, sent: OutputFields): void => {
  if (!TASKS[dialect].includes(task)) throw new InvalidValue('dialect', `expected one that has the task '${task}'`);
  if (embedding && task !== 'embed') throw new InvalidValue('embedding', "expected none, since the model's task isn't 'embed'");
  if (!embedding && task === 'embed') throw new InvalidValue('embedding', "expected the dimensions of the vectors for the task 'embed'");
  if (task === 'generate') return;
  for (const param of ['max_output_tokens', 'default_output_tokens'] as const)
    if (sent[param] !== undefined) throw new InvalidValue(param, `leave it out for the task '${task}', which generates no text`);
  const enabled = Object.entries(capabilities).find(([, isEnabled]) => isEnabled)?.[0];
  if (enabled !== undefined) throw new InvalidValue(`capabilities.${enabled}`, `expected false for the task '${task}'`);
};

/** Checks that the tokens of a model's requests can be counted. @throws 400 */
export const checkCounted = ({ dialect, tokenizer }: Pick<Model, 'dialect' | 'tokenizer'>): void => {
  if (dialect === 'tei' && !tokenizer)
    throw new InvalidValue('tokenizer', "expected one for the dialect 'tei', whose runtimes report no counts");
};

/**
 * The fields of a new model, with those that a row needs whatever its task. A model that generates no text has no
 * capabilities.
 * @throws 400 if they don't fit its task
 */
export const forTask = <Fields extends TaskFields & OutputFields>(fields: Fields) => {
  if (fields.task !== 'generate') {
    checkTask({ ...fields, capabilities: NO_CAPABILITIES }, fields);
    return { ...fields, ...NO_OUTPUT, capabilities: NO_CAPABILITIES };
  }
  checkTask(fields, fields);
  const { max_output_tokens, default_output_tokens } = fields;
  if (max_output_tokens === undefined) throw new InvalidValue('max_output_tokens', 'expected a number for a model that generates text');
  if (default_output_tokens === undefined)
    throw new InvalidValue('default_output_tokens', 'expected a number for a model that generates text');
  return { ...fields, max_output_tokens, default_output_tokens };
};
