interface Welcome {
  organization: string;
  email: string;
  /** Where the owner signs in. */
  consoleUrl: string;
  /** Ends in `/v1`. */
  baseUrl: string;
  /** True: the service has emailed the temporary password. */
  isPasswordMailed: boolean;
  hasKey: boolean;
}

/** The message that the owner of a new organization gets. It has no secret. */
export const welcomeOf = ({ organization, email, consoleUrl, baseUrl, isPasswordMailed, hasKey }: Welcome): string =>
  [
    `${organization} now has an account, and you are its owner.`,
    '',
    `1. Sign in at ${consoleUrl}`,
    `   with ${email} and the temporary password that ${isPasswordMailed ? 'was emailed to you. It works for 7 days.' : 'you receive separately.'}`,
    `2. ${hasKey ? 'You receive your first API key separately. Keep it secret.' : 'Create an API key there.'}`,
    `   OpenAI clients use it with the base URL ${baseUrl}`,
    '3. Invite your colleagues under Users.',
  ].join('\n');
