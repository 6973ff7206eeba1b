import { cutText } from '../../shared/database/cut-text.ts';

const ASK_OWNER = 'Ask an owner of your organization.';
const START_AGAIN = 'Go back to where you started, and sign in again.';

interface FaultText {
  status: number;
  text: string;
}

const unauthorized = (text: string): FaultText => ({ status: 401, text });
const forbidden = (text: string): FaultText => ({ status: 403, text });

/** Every reason for which a login with an identity provider can fail, with what its page says. */
export const LOGIN_FAULTS = {
  login_expired: { status: 400, text: `This sign-in has expired, or was already finished. ${START_AGAIN}` },
  other_browser: { status: 400, text: `This sign-in was started in another browser. ${START_AGAIN}` },
  callback_malformed: { status: 400, text: `The identity provider's answer is incomplete. ${START_AGAIN}` },
  no_provider: { status: 404, text: `Single sign-on is not set up for this email address. Sign in with your password, or ask an owner.` },
  provider_disabled: forbidden(`Single sign-on is switched off for your organization. ${ASK_OWNER}`),
  provider_busy: {
    status: 503,
    text: 'Many people are signing in to your organization at this moment. Wait a few seconds, then reload this page.',
  },
  provider_unreachable: { status: 503, text: `Your identity provider could not be reached, or its answer was not usable. ${START_AGAIN}` },
  provider_refused: unauthorized(`Your identity provider did not sign you in. ${START_AGAIN}`),
  issuer_mismatch: unauthorized(`The answer came from another identity provider than the one you were sent to. ${START_AGAIN}`),
  code_refused: unauthorized(`Your identity provider did not confirm this sign-in. ${START_AGAIN}`),
  token_rejected: unauthorized(`Your identity provider's token was not accepted. ${ASK_OWNER}`),
  acr_missing: forbidden(`Your organization requires a stronger sign-in, for example with a second factor. ${ASK_OWNER}`),
  subject_missing: unauthorized(`Your identity provider's token does not say who you are. ${ASK_OWNER}`),
  groups_left_out: forbidden(`You are in too many groups, so your identity provider left them out. ${ASK_OWNER}`),
  no_role: forbidden(`Your organization has not given you access to Sluice. ${ASK_OWNER}`),
  email_missing: forbidden(`Your identity provider did not send your email address. ${ASK_OWNER}`),
  email_not_verified: forbidden(`Your identity provider has not verified your email address. ${ASK_OWNER}`),
  domain_not_verified: forbidden(`Your email address is not in a domain that your organization has verified. ${ASK_OWNER}`),
  address_in_use: forbidden(`A user with your email address exists, and cannot sign in with this identity provider. ${ASK_OWNER}`),
  user_disabled: forbidden(`Your user is disabled. ${ASK_OWNER}`),
  organization_refused: forbidden(`Your organization can't get another user now. ${ASK_OWNER}`),
  changed_meanwhile: { status: 409, text: `Your user was changed while you signed in. ${START_AGAIN}` },
} as const satisfies Record<string, FaultText>;

export type LoginFault = keyof typeof LOGIN_FAULTS;

const MAX_DETAIL_CHARACTERS = 200;

/** A login that failed. */
export class LoginFailed extends Error {
  readonly fault: LoginFault;
  /** For the organization only, such as the fault of the token. */
  readonly detail: string | null;
  /** The fault with its detail. */
  readonly reason: string;

  constructor(fault: LoginFault, detail: string | null = null) {
    super(`The login failed: ${fault}.`);
    this.fault = fault;
    this.detail = detail === null ? null : cutText(detail, MAX_DETAIL_CHARACTERS);
    this.reason = this.detail === null ? fault : `${fault}: ${this.detail}`;
  }
}
