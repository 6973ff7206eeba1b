import * as z from 'zod';

const Passed = z.boolean();
const Detail = z.string().meta({ description: 'What the check found, and what to do about it.' });

/** The checks of each target, in the order in which they run. */
export const CheckName = z.enum(['exists', 'tagged', 'in_service', 'answers']).meta({
  description:
    '`exists`: the endpoint, and the inference component on it, exist in SageMaker. `tagged`: both have the tag that allows Sluice to invoke them. `in_service`: SageMaker reports both as InService. `answers`: the container answered a request for one token, vector or score, which is not billed.',
});
export type CheckName = z.infer<typeof CheckName>;

const Check = z.object({
  name: CheckName,
  passed: Passed.meta({ description: 'False also if the check was skipped because an earlier check of the target failed.' }),
  detail: Detail,
});
export type Check = z.infer<typeof Check>;

const TargetReport = z.object({
  endpoint: z.string(),
  component: z.string().nullable().meta({ description: 'The inference component; null: the target is the whole endpoint.' }),
  region: z.string().nullable().meta({ description: "The AWS region; null: the deployment's own region." }),
  checks: z.array(Check).meta({ description: 'All checks, in the order in which they run.' }),
});
export type TargetReport = z.infer<typeof TargetReport>;

const TokenizerReport = z.object({ passed: Passed, detail: Detail });
export type TokenizerReport = z.infer<typeof TokenizerReport>;

const StructuredReport = z.object({
  works: z.boolean().nullable().meta({ description: 'null: it is unknown, because it was not tried or the answer was cut off.' }),
  detail: Detail,
});
export type StructuredReport = z.infer<typeof StructuredReport>;

/** The result of a model's checks. */
export const RegistrationReport = z.object({
  targets: z.array(TargetReport).meta({ description: "A report for each of the model's targets, in their order." }),
  tokenizer: TokenizerReport.nullable().meta({
    description:
      "Whether the model's tokenizer can count a short conversation with its chat template, and counts as many tokens as the container; for a model that generates no text, a short text. null: the model has no tokenizer.",
  }),
  structured_outputs: StructuredReport.nullable().meta({
    description:
      "Whether the model's containers follow a JSON Schema, which decides what `capabilities.structured_outputs` should be; null: requests in the model's dialect can't have one.",
  }),
  passed: Passed.meta({
    description:
      'Whether all checks of all targets and the tokenizer check passed, and structured outputs work if `capabilities.structured_outputs` is true.',
  }),
});
export type RegistrationReport = z.infer<typeof RegistrationReport>;
