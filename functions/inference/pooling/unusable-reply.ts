import { UpstreamFailed } from '../../../shared/upstream/errors.ts';

/** A runtime replied with something that no caller may get, such as a vector with a value that is not a number: 503. */
export class UnusableReply extends UpstreamFailed {
  /** @param fault without words of the runtime */
  constructor(fault: string) {
    super('upstream_error', fault, fault);
  }
}
