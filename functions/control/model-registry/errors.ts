import { Conflict } from '../../../shared/http/errors.ts';
import type { RegistrationReport } from './registration-report.ts';

/** A published model cannot be deleted: 409. */
export class ModelPublished extends Conflict {
  constructor(model: string) {
    super({
      code: 'model_published',
      message: `The model '${model}' is published, so it can't be deleted. Set its status to 'unpublished' first.`,
    });
  }
}

/** A deployment keeps the model up to date: 409. */
export class ModelOfDeployment extends Conflict {
  constructor(model: string, deployment: string) {
    super({
      code: 'model_of_deployment',
      message: `The model '${model}' belongs to the deployment ${deployment}. Change, unpublish or delete that deployment instead.`,
    });
  }
}

/** A model whose targets or tokenizer failed a check: 409. */
export class ChecksFailed extends Conflict {
  constructor(report: RegistrationReport) {
    super({
      code: 'checks_failed',
      param: 'accept_failed_checks',
      message: `${firstFailed(report)} To save the model anyway, send accept_failed_checks: true.`,
    });
  }
}

const firstFailed = ({ targets, tokenizer, structured_outputs }: RegistrationReport): string => {
  for (const [index, { endpoint, checks }] of targets.entries()) {
    const failed = checks.find(({ passed }) => !passed);
    if (failed) return `The check '${failed.name}' failed for targets[${index}] ('${endpoint}'): ${failed.detail}`;
  }
  if (tokenizer?.passed === false) return `The tokenizer check failed: ${tokenizer.detail}`;
  return `The check of structured outputs failed: ${structured_outputs?.detail}`;
};
