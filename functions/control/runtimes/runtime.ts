import * as z from 'zod';
import { EntryStatus, type Runtime } from '../../../shared/deployments/catalogue.ts';
import { DialectName } from '../../../shared/models/model.ts';
import { changeBody } from '../access/change-body.ts';
import { isPinnedImage } from './image-uri.ts';

const Description = z.string().trim().max(200);
const Image = z
  .string()
  .max(500)
  .refine(
    isPinnedImage,
    'expected an image of AWS with an exact tag, such as "vllm:server-sagemaker-cuda-v2.4", or the URI of an image in ECR with an exact tag or a digest. Tags that move, such as "latest", are not allowed',
  );
const Ami = z
  .string()
  .regex(/^[a-z0-9](?:-?[a-z0-9]){0,62}$/, 'expected the name of an AMI, such as "al2023-ami-sagemaker-inference-gpu-4-1"');

/** A runtime to add to the catalogue. */
export const NewRuntime = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'expected lower-case letters, digits and . _ -')
    .meta({ description: 'The name by which deployments refer to it.', examples: ['vllm-0.27.1-patched'] }),
  description: Description.default(''),
  image: Image.meta({
    description:
      "The container image. For an image of AWS's Deep Learning Containers, the repository and the tag are enough; Sluice adds the account of the region.",
    examples: ['vllm:server-sagemaker-cuda-v2.4'],
  }),
  ami: Ami.optional().meta({
    description: "SageMaker's `InferenceAmiVersion`, which decides the GPU driver. Default: that of the instance type.",
  }),
  dialect: DialectName.default('vllm').meta({
    description: 'The request format of the runtime. One with `tei` (Text Embeddings Inference) runs only models that embed or rank.',
  }),
});
export type NewRuntime = z.output<typeof NewRuntime>;

/**
 * Absent fields keep their values. The image never changes: deployments would run something else under the same name.
 */
export const RuntimeUpdate = changeBody({
  description: Description.optional(),
  ami: Ami.nullable()
    .optional()
    .meta({ description: 'For new generations of deployments. Send null for the default of the instance type.' }),
  status: EntryStatus.optional().meta({ description: '`retired`: no new deployment or generation can use it. Those that do keep it.' }),
});
export type RuntimeUpdate = z.output<typeof RuntimeUpdate>;

export const RuntimeResource = z.object({
  object: z.literal('runtime'),
  id: z.string(),
  description: z.string(),
  dialect: DialectName.meta({ description: 'The request format of the runtime.' }),
  status: EntryStatus,
  image: z.string().optional().meta({ description: 'The container image. Only for admins.' }),
  ami: z
    .string()
    .nullable()
    .optional()
    .meta({ description: "SageMaker's `InferenceAmiVersion`; null: the default of the instance type. Only for admins." }),
  version: z.int().meta({ description: 'Incremented by every change; 0: an entry of the release. The ETag is derived from it.' }),
});
export type RuntimeResource = z.infer<typeof RuntimeResource>;

export const RuntimeList = z.object({ object: z.literal('list'), data: z.array(RuntimeResource) });
export type RuntimeList = z.infer<typeof RuntimeList>;

/** Converts a runtime to the wire. Only admins see its image. */
export const toResource = ({ id, description, dialect, status, image, ami, version }: Runtime, isAdmin: boolean): RuntimeResource => ({
  object: 'runtime',
  id,
  description,
  dialect,
  status,
  ...(isAdmin && { image, ami: ami ?? null }),
  version,
});
