import type { InstanceType } from '../../../shared/deployments/catalogue.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import type { DeploymentFindings, DeploymentToValidate } from '../../../shared/deployments/validation.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import { checkTokenizer } from '../model-registry/check-tokenizer.ts';
import { type Estimate, estimateOf } from './estimate.ts';
import type { DeploymentReads } from './find-deployment.ts';
import type { PlannedGeneration } from './plan-generation.ts';

export interface GenerationCheckDependencies extends Pick<DeploymentReads, 'startTimes'> {
  /** Checks the weights and AWS's quotas in the function `deployments`, which has the permissions. @throws 503 */
  validate: (question: DeploymentToValidate) => Promise<DeploymentFindings>;
  tokenizer: Pick<Tokenizer, 'fit' | 'count'>;
}

/**
 * Checks that the files of a deployment's tokenizer are registered and can count a request, as the registration of a
 * model does.
 * @throws 400, 503 if the function `tokenizer` is out of reach
 */
export const checkServing = async (
  deps: GenerationCheckDependencies,
  { organization, name }: Pick<Deployment, 'organization' | 'name'>,
  { tokenizer: files, task }: Pick<Deployment['serving'], 'tokenizer' | 'task'>,
): Promise<void> => {
  if (!files) return;
  const { passed, detail } = await checkTokenizer(deps, { files, model: name, task, organization });
  if (!passed) throw new InvalidValue('tokenizer', detail.replace(/\.$/, ''), 'tokenizer_unusable');
};

interface Checked {
  organization: string;
  generation: PlannedGeneration;
  types: readonly InstanceType[];
  copies: Deployment['copies'];
  schedule?: Deployment['schedule'];
  starts?: Deployment['starts'];
  nowMs: number;
}

/**
 * Checks on AWS that a generation can run, and estimates its price and its start. Too small a quota is a warning.
 * @throws 400 if its weights can't be used, 503
 */
export const checkGeneration = async (
  deps: GenerationCheckDependencies,
  { organization, generation, types, copies, schedule = [], starts = [], nowMs }: Checked,
): Promise<Estimate> => {
  const { model, allows_code, instance_types, accelerators } = generation;
  const [findings, ofType] = await Promise.all([
    deps.validate({ organization, model, allows_code, instance_types }),
    deps.startTimes.secondsOf(instance_types[0] as string),
  ]);
  if (!findings.weights.passed) throw new InvalidValue('model', findings.weights.message.replace(/\.$/, ''), 'weights_unusable');
  return estimateOf({ copies, schedule, accelerators, types, findings, starts, ofType, nowMs });
};
