import { Conflict, InvalidValue } from '../../../shared/http/errors.ts';

/** A model has the name of an alias, and would always win: 409. */
export class AliasIsModel extends Conflict {
  constructor(name: string) {
    super({
      code: 'model_exists',
      param: 'alias',
      message: `A model is named '${name}', and requests with that name always get that model. Choose another alias.`,
    });
  }
}

/** Both sides of a split are the same model: 400. */
export class SplitOfOneModel extends InvalidValue {
  constructor() {
    super('split.model', "expected another model than 'model', which answers all other callers");
  }
}

/** Another model can't answer in place of one that embeds or ranks: 400. */
export class NotInterchangeable extends InvalidValue {
  constructor(param: string) {
    super(param, "expected models that generate text, since vectors and scores of different models can't be compared");
  }
}

/** An owner has as many aliases as possible: 409. */
export class TooManyAliases extends Conflict {
  constructor(max: number) {
    super({
      code: 'too_many_aliases',
      message: `There can be at most ${max} shared aliases, and ${max} of each organization. Delete an alias first.`,
    });
  }
}
