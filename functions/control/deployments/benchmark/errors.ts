import { Conflict } from '../../../../shared/http/errors.ts';

/** Another benchmark of the organization runs: 409. */
export class BenchmarkRunning extends Conflict {
  constructor(deployment: string) {
    super({
      code: 'benchmark_running',
      message: `A benchmark of the deployment ${deployment} is running, and an organization can run one at a time. Wait until it ends, or cancel it: POST /v1/deployments/${deployment}/benchmark/cancel.`,
    });
  }
}

/** The deployment doesn't generate text: 409. */
export class BenchmarkNeedsText extends Conflict {
  constructor(task: string) {
    super({
      code: 'benchmark_needs_text',
      message: `Only a deployment that generates text can be measured; the task of this one is '${task}'. Choose a deployment with the task 'generate'.`,
    });
  }
}

/** The deployment has no requests to take lengths from: 409. */
export class NoMix extends Conflict {
  constructor() {
    super({
      code: 'no_mix',
      param: 'mix',
      message:
        'The deployment had no requests in the last 7 days, so their usual lengths are unknown. Send lengths in `mix`, such as [{"prompt_tokens": 1000, "completion_tokens": 200}].',
    });
  }
}
