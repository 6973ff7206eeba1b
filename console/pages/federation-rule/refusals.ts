const ADVICE: Readonly<Record<string, string>> = {
  claims_differ: 'The rule expects a different value.',
  audience_mismatch: "Request the token for the rule's audience.",
  issuer_mismatch: "Request the token from the rule's issuer.",
  token_already_used: 'Request a new token for each exchange.',
  expired: "Exchange the token as soon as you get it, and check the issuer's clock.",
  issued_in_the_future: "Check the issuer's clock.",
  not_yet_valid: "Check the issuer's clock.",
  lifetime_too_long: 'Request a token that expires within an hour.',
  rule_disabled: 'Enable the rule.',
  service_account_disabled: 'Enable the service account.',
  too_many_fetches: 'Try again in a minute.',
};

/** The way to get a token accepted that was refused for a reason; undefined if nothing short can be said. */
export const adviceFor = (reason: string): string | undefined => ADVICE[reason];
