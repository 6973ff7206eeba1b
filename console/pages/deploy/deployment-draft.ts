import type { ApiFailure } from '../../client/api-failure.ts';
import type { RequestBody } from '../../client/routes.ts';
import type { Task } from '../../client/snippets.ts';
import { HOUR_S, MINUTE_S } from '../../design/format/units.ts';
import { WINDOWS_FAULT, windowsIn } from '../deployments/windows.ts';

export type NewDeployment = RequestBody<'POST /v1/deployments'>;

/** A new deployment as its form edits it. */
export type NewDraft = {
  model: string;
  task: Task;
  /** Only of the task `embed`: the numbers of a vector. */
  dimensions: string;
  /** Empty: made of the model's name. */
  name: string;
  runtime: string;
  /** The preferred type first. */
  instanceTypes: readonly string[];
  accelerators: string;
  minCopies: string;
  /** Empty: as many as the least. */
  maxCopies: string;
  /** Seconds; empty: it never sleeps. */
  idle: string;
  /** Lines such as `mon-fri 08:00-18:00 Europe/Berlin 1`. */
  windows: string;
  concurrency: string;
  /** Tokens; empty: the default. */
  contextLength: string;
  /** Lines of `NAME=value`. */
  environment: string;
  allowsCode: boolean;
};

export const FIRST_DRAFT: NewDraft = {
  model: '',
  task: 'generate',
  dimensions: '',
  name: '',
  runtime: '',
  instanceTypes: [],
  accelerators: '1',
  minCopies: '1',
  maxCopies: '',
  idle: '1800',
  windows: '',
  concurrency: '16',
  contextLength: '',
  environment: '',
  allowsCode: false,
};

/** The tasks that a model can have. */
export const TASKS: readonly (readonly [Task, string])[] = [
  ['generate', 'Text generation'],
  ['embed', 'Embeddings'],
  ['rerank', 'Reranking'],
];

const IDLE_CHOICES = [
  ['', 'Never'],
  [String(5 * MINUTE_S), 'After 5 minutes without a request'],
  [String(15 * MINUTE_S), 'After 15 minutes without a request'],
  [String(30 * MINUTE_S), 'After 30 minutes without a request'],
  [String(HOUR_S), 'After an hour without a request'],
  [String(4 * HOUR_S), 'After 4 hours without a request'],
  [String(24 * HOUR_S), 'After a day without a request'],
] as const;

/** The times after which a deployment can sleep, with the one that it has. */
export const idleChoices = (current: string): readonly (readonly [string, string])[] =>
  IDLE_CHOICES.some(([seconds]) => seconds === current)
    ? IDLE_CHOICES
    : [...IDLE_CHOICES, [current, `After ${current} seconds without a request`]];

/** A name for a deployment of a model: the last part of its location, with the characters that names can have. */
export const nameFor = (model: string): string =>
  (model.replace(/\/+$/, '').split('/').at(-1) ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');

/** The variables in lines of `NAME=value`; undefined if a line is none. */
export const variablesIn = (text: string): Record<string, string> | undefined => {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  if (lines.some((line) => !/^[A-Za-z_]\w*=\S/.test(line))) return undefined;
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).trim()]));
};

/** Variables as lines of `NAME=value`. */
export const linesOf = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');

/** True for a whole number of at least 1. */
export const isCount = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text);

export type Faults = Partial<Record<keyof NewDraft, string>>;

const NUMBERS = ['accelerators', 'minCopies', 'maxCopies', 'concurrency', 'contextLength'] as const;
const CAN_BE_EMPTY: ReadonlySet<string> = new Set(['maxCopies', 'contextLength']);

/** Why fields can't be sent. */
export const faultsOf = (draft: NewDraft): Faults => ({
  ...Object.fromEntries(
    NUMBERS.filter((name) => !(isCount(draft[name]) || (draft[name] === '' && CAN_BE_EMPTY.has(name)))).map((name) => [
      name,
      'Enter a whole number of at least 1.',
    ]),
  ),
  ...(draft.task === 'embed' && !isCount(draft.dimensions) && { dimensions: 'Enter the number of dimensions, such as 1024.' }),
  ...(windowsIn(draft.windows) === undefined && { windows: WINDOWS_FAULT }),
  ...(variablesIn(draft.environment) === undefined && { environment: 'Enter one NAME=value per line.' }),
});

// The location that no model has: the API then says where models can be.
const NOWHERE = 's3://';
const UNNAMED = 'deployment';

/** The request for a new deployment; undefined if its fields can't be sent. */
export const newDeploymentOf = (draft: NewDraft, organization: string | undefined): NewDeployment | undefined => {
  const environment = variablesIn(draft.environment);
  const schedule = windowsIn(draft.windows);
  if (!environment || !schedule || Object.keys(faultsOf(draft)).length > 0 || draft.runtime === '' || draft.instanceTypes.length === 0)
    return undefined;
  const model = draft.model.trim();
  return {
    ...(organization && { organization }),
    name: draft.name.trim() || nameFor(model) || UNNAMED,
    model: model || NOWHERE,
    runtime: draft.runtime,
    instance_types: [...draft.instanceTypes],
    accelerators: Number(draft.accelerators),
    copies: { min: Number(draft.minCopies), ...(draft.maxCopies !== '' && { max: Number(draft.maxCopies) }) },
    ...(draft.task !== 'generate' && { task: draft.task }),
    ...(draft.task === 'embed' && { embedding: { dimensions: Number(draft.dimensions) } }),
    scale_to_zero_after_seconds: draft.idle === '' ? null : Number(draft.idle),
    ...(schedule.length > 0 && { schedule }),
    max_concurrency_per_copy: Number(draft.concurrency),
    environment: { ...(draft.contextLength !== '' && { SM_VLLM_MAX_MODEL_LEN: draft.contextLength }), ...environment },
    allow_code: draft.allowsCode,
  };
};

const FIELDS: Readonly<Record<string, keyof NewDraft>> = {
  name: 'name',
  model: 'model',
  runtime: 'runtime',
  instance_types: 'instanceTypes',
  accelerators: 'accelerators',
  'copies.min': 'minCopies',
  'copies.max': 'maxCopies',
  scale_to_zero_after_seconds: 'idle',
  schedule: 'windows',
  task: 'task',
  embedding: 'dimensions',
  max_concurrency_per_copy: 'concurrency',
  'environment.SM_VLLM_MAX_MODEL_LEN': 'contextLength',
  context_length: 'contextLength',
  environment: 'environment',
  allow_code: 'allowsCode',
};

/** The field that a failure is about; undefined if it is about none of them. */
export const fieldOf = ({ param }: Pick<ApiFailure, 'param'>): keyof NewDraft | undefined => {
  const [first = ''] = (param ?? '').split(/[.[]/);
  return FIELDS[param ?? ''] ?? FIELDS[first];
};

/** The folder of the organization that a failure names; undefined if it names none. */
export const folderIn = (message: string): string | undefined => /s3:\/\/[^\s/]+\/org_\w+\//.exec(message)?.[0];

/** The newest of several versions, such as `vllm-0.30.0`. */
export const newestOf = (ids: readonly string[]): string =>
  [...ids].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1) ?? '';
