import * as z from 'zod';
import { AdapterSupport } from '../../../shared/deployments/adapter.ts';
import { MAX_COPIES } from '../../../shared/deployments/deployment.ts';
import { MAX_TAG_KEY_CHARACTERS, OWNERS_TAG_PREFIX } from '../../../shared/deployments/names.ts';
import {
  Capabilities,
  DefaultTemperature,
  DefaultTopP,
  Embedding,
  ModelTask,
  ThinkingVariable,
  TOKENIZER_FILE_NAMES,
  TokenizerFiles,
  Tokens,
} from '../../../shared/models/model.ts';
import { changeBody } from '../access/change-body.ts';
import { CapabilitiesUpdate, ServedName } from '../model-registry/registration.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { Environment } from './environment.ts';
import { ScheduleFields } from './schedule-settings.ts';
import { ShadowFields } from './shadow/settings.ts';

// Owners mostly want more: a wake takes minutes, and the next request of a conversation can be a minute away.
const MIN_IDLE_SECONDS = 60;
const MAX_IDLE_SECONDS = 7 * 24 * 3_600;
const DEFAULT_IDLE_SECONDS = 1_800;
const MAX_CONCURRENCY_PER_COPY = 1_024;
const DEFAULT_CONCURRENCY_PER_COPY = 16;
// AWS allows 50 tags, of which some are Sluice's.
const MAX_TAGS = 40;

const Count = z.int().min(1).max(MAX_COPIES);
const Copies = z
  .strictObject({
    min: Count.optional().meta({ description: 'The minimum number of copies while the deployment is awake. Default: 1.' }),
    max: Count.optional().meta({ description: 'The maximum number of copies. Default: `min`.' }),
  })
  .meta({ description: 'The number of copies of the model. It follows the load.' });

const MAX_KEY_CHARACTERS = MAX_TAG_KEY_CHARACTERS - OWNERS_TAG_PREFIX.length;
const TagKey = z
  .string()
  .max(MAX_KEY_CHARACTERS, `expected at most ${MAX_KEY_CHARACTERS} characters`)
  .regex(
    /^(?!aws|sluice)[A-Za-z0-9_.:/=+@-]+$/i,
    'expected letters, digits and _ . : / = + - @, and not a name that begins with aws or sluice',
  );
const TagValue = z.string().regex(/^[A-Za-z0-9 _.:/=+@-]{0,256}$/, 'expected letters, digits, spaces and _ . : / = + - @');

const operation = {
  copies: Copies,
  scale_to_zero_after_seconds: z.int().min(MIN_IDLE_SECONDS).max(MAX_IDLE_SECONDS).nullable().meta({
    description: 'After so long without a request the deployment sleeps and costs nothing; the next request wakes it. null: never.',
  }),
  max_concurrency_per_copy: z
    .int()
    .min(1)
    .max(MAX_CONCURRENCY_PER_COPY)
    .meta({ description: 'How many requests a copy should have at the same time. With more, copies are added up to the maximum.' }),
  tags: z
    .record(TagKey, TagValue)
    .refine((tags) => Object.keys(tags).length <= MAX_TAGS, `expected at most ${MAX_TAGS} tags`)
    .meta({
      description: `Tags for everything that the deployment has on AWS, such as for cost reports. There, each begins with \`${OWNERS_TAG_PREFIX}\`: \`team\` is \`${OWNERS_TAG_PREFIX}team\`.`,
    }),
};

const generation = {
  runtime: z
    .string()
    .min(1)
    .max(63)
    .meta({ description: 'The id of a runtime: see `GET /v1/runtimes`.', examples: ['vllm-0.27.1'] }),
  model: z
    .string()
    .min(3)
    .max(1_024)
    .meta({
      description:
        "The folder with the model's files, in your organization's part of the weights bucket: `s3://<bucket>/<organization>/<folder>/`. Where the platform allows it, the id of a model on the Hugging Face Hub.",
      examples: ['s3://sluice-weights/org_VbdBUPc4RtYvB8fK2m/qwen3-8b/'],
    }),
  instance_types: z
    .array(z.string().min(1).max(63))
    .min(1)
    .max(5)
    .refine((types) => new Set(types).size === types.length, 'expected every instance type once')
    .meta({
      description: 'The instance types that it can run on, the preferred one first: see `GET /v1/instance-types`.',
      examples: [['ml.g5.xlarge']],
    }),
  accelerators: z.int().min(1).max(64).meta({ description: 'The number of accelerators that one copy needs.' }),
  environment: Environment,
  adapters: z.strictObject(AdapterSupport.shape).meta({
    description:
      'The LoRA adapters that its containers can load, only with vLLM: the highest rank (`max_rank`), and how many are on the accelerators at the same time (`max_loaded`). Requests for others wait for a place.',
  }),
  allow_code: z.boolean().meta({
    description:
      "Whether the model's folder can contain code (`model.py`, `code/`, `requirements.txt`, `serving.properties`), which then runs in the container. Allowing it requires `catalogue:write`.",
  }),
};

const Size = Tokens.max(100_000_000);
const serving = {
  context_length: Size.meta({
    description:
      'The maximum number of prompt and completion tokens together, or of the tokens of an input if it generates no text, at most `SM_VLLM_MAX_MODEL_LEN` of each generation that gets requests. Default: that of the environment, or 8,192.',
  }),
  max_output_tokens: Size.meta({ description: 'Default: 4,096, or the context length if it is less. Only if it generates text.' }),
  default_output_tokens: Size.meta({
    description:
      'The `max_tokens` of a request that does not set it. Default: 1,024, or `max_output_tokens` if it is less. Only if it generates text.',
  }),
  thinking_variable: ThinkingVariable.meta({ description: 'The chat template variable that turns thinking on and off.' }),
  continuous_usage: z.boolean().meta({ description: 'Whether its runtime counts tokens with every chunk.' }),
  default_temperature: DefaultTemperature.meta({ description: 'The `temperature` of a response whose request does not set it.' }),
  default_top_p: DefaultTopP.meta({ description: 'The `top_p` of a response whose request does not set it.' }),
};
const TOKENIZER =
  "The model's tokenizer and chat template: the keys of files that an admin registered with `npm run admin -- register-tokenizer`.";

// Keys are made of the content of their files, so that nobody can change a deployment's tokenizer.
const registeredFile = (name: string) =>
  z
    .string()
    .regex(
      new RegExp(`^sha256/[0-9a-f]{64}/${name.replaceAll('.', '\\.')}$`),
      `expected the key of a registered file, sha256/…/${name}. Ask an admin to register the model's files, and send the keys that the command prints: npm run admin -- register-tokenizer`,
    );
const { shape: tokenizerShape } = TokenizerFiles;

// Deployments of earlier releases can have other keys.
const RegisteredFiles = z.strictObject({
  tokenizer: registeredFile(TOKENIZER_FILE_NAMES.tokenizer).meta({ ...tokenizerShape.tokenizer.meta() }),
  config: registeredFile(TOKENIZER_FILE_NAMES.config)
    .optional()
    .meta({ ...tokenizerShape.config.meta() }),
  chat_template: registeredFile(TOKENIZER_FILE_NAMES.chat_template).optional(),
  vocabulary_size: tokenizerShape.vocabulary_size,
});

/** A deployment to create. */
export const NewDeployment = z.strictObject({
  organization: OrganizationId.optional().meta({ description: 'Required for admins; otherwise your own organization.' }),
  name: ServedName.meta({ description: 'The `model` of requests.', examples: ['qwen3-8b'] }),
  ...generation,
  accelerators: generation.accelerators.default(1),
  task: ModelTask.default('generate').meta({
    description:
      'What requests are answered with: `generate` text, `embed` vectors, `rerank` the relevance of documents. It never changes.',
  }),
  embedding: Embedding.optional().meta({ description: 'Required for the task `embed`, and only for it.' }),
  environment: generation.environment.default({}),
  allow_code: generation.allow_code.default(false),
  // No default: a repeated creation is known by the hash of its body.
  adapters: generation.adapters.optional(),
  copies: operation.copies.default({}),
  scale_to_zero_after_seconds: operation.scale_to_zero_after_seconds.default(DEFAULT_IDLE_SECONDS),
  // No default, for the same reason.
  schedule: ScheduleFields.optional(),
  max_concurrency_per_copy: operation.max_concurrency_per_copy.default(DEFAULT_CONCURRENCY_PER_COPY),
  tags: operation.tags.default({}),
  context_length: serving.context_length.optional(),
  max_output_tokens: serving.max_output_tokens.optional(),
  default_output_tokens: serving.default_output_tokens.optional(),
  capabilities: Capabilities.prefault({}).meta({ description: 'The features that its runtime supports besides plain chat.' }),
  thinking_variable: serving.thinking_variable.default('enable_thinking'),
  continuous_usage: serving.continuous_usage.default(false),
  default_temperature: serving.default_temperature.default(1),
  default_top_p: serving.default_top_p.default(1),
  tokenizer: RegisteredFiles.optional().meta({ description: `${TOKENIZER} If omitted, prompts are not counted.` }),
  validate_only: z.boolean().default(false).meta({
    description:
      "If true, nothing is created: the response has the price an hour, that of the schedule's windows a month, what is left of AWS's quotas, and the estimated time to start.",
  }),
});
export type NewDeployment = z.output<typeof NewDeployment>;

/** Absent fields keep their values. */
export const DeploymentUpdate = changeBody({
  runtime: generation.runtime.optional(),
  model: generation.model.optional(),
  instance_types: generation.instance_types.optional(),
  accelerators: generation.accelerators.optional(),
  environment: generation.environment.optional().meta({ description: 'Replaces all variables.' }),
  allow_code: generation.allow_code.optional(),
  adapters: generation.adapters.nullable().optional().meta({ description: 'null: its containers load no adapters.' }),
  traffic_percent: z.int().min(0).max(100).optional().meta({
    description:
      'With a new runtime, model, environment, `adapters`, accelerators or instance types: the share of requests that the new generation gets once it is ready, from 1 to 100. Default: 100, which replaces the old generation. Alone, it shifts the traffic of a rollout: 100 completes it, 0 returns to the old generation. With `shadow`, it is 0.',
  }),
  shadow: ShadowFields.optional(),
  copies: operation.copies.optional(),
  scale_to_zero_after_seconds: operation.scale_to_zero_after_seconds.optional(),
  schedule: ScheduleFields.nullable().optional().meta({ description: 'Replaces all windows; null or an empty list removes them.' }),
  max_concurrency_per_copy: operation.max_concurrency_per_copy.optional(),
  tags: operation.tags.optional().meta({ description: 'Replaces all tags. On AWS, they change with the next generation.' }),
  embedding: Embedding.optional().meta({ description: 'Only with the task `embed`.' }),
  context_length: serving.context_length.optional(),
  max_output_tokens: serving.max_output_tokens.optional(),
  default_output_tokens: serving.default_output_tokens.optional(),
  capabilities: CapabilitiesUpdate.optional(),
  thinking_variable: serving.thinking_variable.optional(),
  continuous_usage: serving.continuous_usage.optional(),
  default_temperature: serving.default_temperature.optional(),
  default_top_p: serving.default_top_p.optional(),
  tokenizer: RegisteredFiles.nullable()
    .optional()
    .meta({ description: `${TOKENIZER} Send null to remove it.` }),
});
export type DeploymentUpdate = z.output<typeof DeploymentUpdate>;
