import type { Model } from '../../../shared/models/model.ts';
import type { Price } from '../../../shared/prices/price.ts';

/** A model that can answer a request, with the price in force. */
export interface FoundModel {
  model: Model;
  price: Price;
  /** 0: the model that the request names; n: its n-th fallback. */
  index: number;
  /** A shared model in place of an organization's deployment. */
  isShared?: boolean;
}

/** A model that can answer a request, and what the request needs of it. */
export interface Candidate<Prepared> extends FoundModel {
  prepared: Prepared;
}
