const ADVICE: Readonly<Record<string, string>> = {
  claims_differ: 'The rule expects another value.',
  audience_mismatch: 'Request the token with the audience of the rule.',
  issuer_mismatch: 'Request the token from the issuer of the rule.',
  token_already_used: 'Request a new token for each exchange.',
  expired: 'Exchange the token at once, and check the clock of the issuer.',
  issued_in_the_future: 'Check the clock of the issuer.',
  not_yet_valid: 'Check the clock of the issuer.',
  lifetime_too_long: 'Request a token that ends within an hour.',
  rule_disabled: 'Enable the rule.',
  service_account_disabled: 'Enable the service account.',
  too_many_fetches: 'Try again a minute later.',
};

/** The way to get a token accepted that was refused for a reason; undefined if nothing short can be said. */
export const adviceFor = (reason: string): string | undefined => ADVICE[reason];
