import { Conflict } from '../../../shared/http/errors.ts';

/** The most deployments of an organization that are not deleted. */
export const MAX_DEPLOYMENTS = 20;

export class TooManyDeployments extends Conflict {
  constructor() {
    super({
      code: 'too_many_deployments',
      message: `An organization can have at most ${MAX_DEPLOYMENTS} deployments. Delete one first; it counts until its state is 'deleted'.`,
    });
  }
}

/** An instance type without a price in force: 409. */
export class InstanceTypeNotPriced extends Conflict {
  constructor(instanceType: string) {
    super({
      code: 'instance_type_not_priced',
      param: 'instance_types',
      message: `The instance type '${instanceType}' has no price yet, so deployments can't use it. Choose another one, or ask an admin to add a price: POST /v1/instance-types/${instanceType}/prices.`,
    });
  }
}

/** The deployment is deleted, or being deleted: 409. */
export class DeploymentDeleted extends Conflict {
  constructor(name: string) {
    super({
      code: 'deployment_deleted',
      message: `The deployment '${name}' is being deleted, or is deleted already. Create it again once its state is 'deleted'.`,
    });
  }
}

/** The deployment is not in a state for this request: 409. */
export class WrongState extends Conflict {
  constructor(code: string, message: string) {
    super({ code, message });
  }
}

/** A rollout can't begin, because another one is not finished: 409. */
export class RolloutUnfinished extends Conflict {
  constructor() {
    super({
      code: 'rollout_unfinished',
      message:
        'Another generation of this deployment is still being rolled out. Complete it with traffic_percent 100, roll back with traffic_percent 0, or wait for it to fail.',
    });
  }
}

/** A published deployment must keep running: 409. */
export class DeploymentPublished extends Conflict {
  constructor(model: string) {
    super({
      code: 'deployment_published',
      message: `The deployment serves the shared model '${model}'. An admin must unpublish it first.`,
    });
  }
}
