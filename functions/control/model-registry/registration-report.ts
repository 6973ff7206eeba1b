import * as z from 'zod';

const Passed = z.boolean();
const Detail = z.string().meta({ description: 'What was found, and what to do about it, in plain words.' });

/** What is checked of each target, in the order in which it is. */
export const CheckName = z.enum(['exists', 'tagged', 'in_service', 'answers']).meta({
  description:
    '`exists`: SageMaker has the endpoint, and on it the inference component. `tagged`: they carry the tag without which they may not be invoked. `in_service`: SageMaker says that they serve. `answers`: the container has answered a question of one token, which is not billed.',
});
export type CheckName = z.infer<typeof CheckName>;

const Check = z.object({
  name: CheckName,
  passed: Passed.meta({ description: 'False too where it was not tried, because an earlier check of the target has failed.' }),
  detail: Detail,
});
export type Check = z.infer<typeof Check>;

const TargetReport = z.object({
  endpoint: z.string(),
  component: z.string().nullable().meta({ description: 'The inference component; null where the target names none.' }),
  region: z.string().nullable().meta({ description: "null where the target names none: the deployment's own." }),
  checks: z.array(Check).meta({ description: 'Every check, in the order in which they are made.' }),
});
export type TargetReport = z.infer<typeof TargetReport>;

const TokenizerReport = z.object({ passed: Passed, detail: Detail });
export type TokenizerReport = z.infer<typeof TokenizerReport>;

/** Whether a model could be served as it is registered, for an admin to read. */
export const RegistrationReport = z.object({
  targets: z.array(TargetReport).meta({ description: "The model's targets, in its order." }),
  tokenizer: TokenizerReport.nullable().meta({
    description: "Whether the model's own tokenizer counts a short conversation by its chat template; null where the model has none.",
  }),
  passed: Passed.meta({ description: 'Whether every check of every target, and the tokenizer, have passed.' }),
});
export type RegistrationReport = z.infer<typeof RegistrationReport>;
