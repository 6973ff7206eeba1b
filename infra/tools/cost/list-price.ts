/** A price as AWS publishes it for us-east-1. */
export interface ListPrice {
  service: string;
  /** The unit that is counted. */
  unit: string;
  /** Dollars for `per` units. */
  usd: string;
  per: number;
  /** The monthly allowance of an account that these units use up first. */
  allowance?: string;
  /**
   * `verified`: the number was read on the date, in AWS's own text or in a page that quotes AWS's price list.
   * `assumed`: no such page was at hand, so compare it with AWS's page before you rely on it.
   */
  status: 'verified' | 'assumed';
  /** The day on which the price was read or assumed. */
  date: string;
  /** AWS's page with the price. */
  source: string;
  /** Where the number was read, because AWS's pages insert their numbers when a browser shows them. */
  readAt?: string;
}

/** The amount that every account has free each month without an end, for all its uses together. */
export interface Allowance {
  units: number;
  date: string;
  source: string;
}
