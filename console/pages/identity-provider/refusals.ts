const ADVICE: Readonly<Record<string, string>> = {
  no_role: 'No group of the mapping matches. Compare it with the claim, or set a role of everyone else.',
  groups_left_out: 'The provider leaves out the groups of users in too many. Use app roles, or assign fewer groups.',
  acr_missing: 'The acr of the token is not one of the required values.',
  email_missing: 'Add the claim email at the provider, and email to the scopes.',
  email_not_verified: 'Verify the address at the provider, or let addresses count as verified.',
  domain_not_verified: 'The address is in a domain that this connection has not verified.',
  address_in_use: 'Another user has this address.',
  user_disabled: 'The user is disabled. Enable them in the list of users.',
  provider_disabled: 'Enable the identity provider.',
  provider_unreachable: 'The provider did not answer in time, or its documents are not usable.',
  provider_refused: 'The provider refused the user. Assign the application to them there.',
  code_refused: 'The provider did not accept the code. With status_401, the client secret is wrong or has ended.',
  token_rejected: 'The token is not for this client. Compare the client id.',
  login_expired: 'The page was loaded again, or the login took too long.',
};

/** The way to let a login succeed that was refused; undefined if nothing short can be said. @param reason with its detail */
export const adviceFor = (reason: string): string | undefined => ADVICE[/^\w+/.exec(reason)?.[0] ?? ''];
