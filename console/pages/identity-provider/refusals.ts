const ADVICE: Readonly<Record<string, string>> = {
  no_role: 'No group in the mapping matches. Compare the mapping with the claim, or set a default role.',
  groups_left_out: 'The provider leaves out the groups of users who are in too many. Use app roles, or assign fewer groups.',
  acr_missing: "The token's acr is not one of the required values.",
  email_missing: 'Add the email claim at the provider, and email to the scopes.',
  email_not_verified: 'Verify the address at the provider, or treat email addresses as verified.',
  domain_not_verified: 'The address is in a domain that is not verified for this identity provider.',
  address_in_use: 'Another user has this address.',
  user_disabled: 'The user is disabled. Enable them under Users.',
  provider_disabled: 'Enable the identity provider.',
  provider_unreachable: 'The provider did not respond in time, or its documents are invalid.',
  provider_refused: 'The provider refused the user. Assign the application to them there.',
  code_refused:
    'The provider did not accept the code. status_401: the client secret is wrong or has expired. id_token_missing: it sent no ID token.',
  token_rejected: 'The token is not for this client. Compare the client id.',
  login_expired: 'The page was reloaded, or the login took too long.',
};

/**
 * The way to let a login succeed that was refused; undefined if nothing short can be said.
 * @param reason with its detail
 */
export const adviceFor = (reason: string): string | undefined => ADVICE[/^\w+/.exec(reason)?.[0] ?? ''];
