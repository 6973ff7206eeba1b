import type { PresentedKey } from '../../../shared/admission/item/secret.ts';
import type { AuthenticatedKey } from '../../../shared/admission/keys/authenticate.ts';

/** A request to admit. */
export interface AdmissionRequest {
  key: PresentedKey;
  model: string;
  /** Other models that the request names, all of which the key must be allowed to use. */
  otherModels?: readonly string[];
  /** The id of the deployment that is tried first. */
  deployment?: string | undefined;
  requestId: string;
  /** To reserve from the tokens-per-minute limit. */
  tokens: number;
  /** The maximum cost in nano-dollars; computed only if money is limited. */
  maxCostNanos: () => bigint;
  /** The caller's id of its end user, if the request has one. */
  user?: string | undefined;
  /** The header or the field that names the end user. Default: `user`. */
  userField?: string | undefined;
  /** The field that limits the answer; absent if the route has none. */
  maxTokensField?: string | undefined;
  /** It costs nothing, so it counts only in its key and its organization. */
  isFree?: true;
  /** The key's item, if it was already authenticated for this request. */
  authenticated?: AuthenticatedKey;
}
