import { cutText } from '../../../shared/database/cut-text.ts';
import type { IdentityClaims } from '../../../shared/federation/claim-fault.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import { claimValues } from './claimed-role.ts';
import { shownNumber } from './shown-number.ts';

const MAX_CHARACTERS = 100;
const MAX_VALUES = 20;
const MAX_EMAIL_CHARACTERS = 254;
const MAX_SUBJECT_CHARACTERS = 200;

/** The part of an ID token that an event of its login shows. */
export interface ShownIdentity {
  subject: string;
  email: string | null;
  claims: Record<string, unknown>;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const cut = (text: string): string => cutText(text, MAX_CHARACTERS);

const listed = (values: readonly string[]): string[] => values.slice(0, MAX_VALUES).map(cut);

const scalar = (value: unknown): string | number | boolean | undefined => {
  if (typeof value === 'number') return shownNumber(value);
  if (typeof value === 'boolean') return value;
  const text = textOf(value);
  return text && cut(text);
};

/**
 * Returns what decides a login: the subject, the address, how the user signed in, and the claim that gives the role. A
 * token can have more about a person, which nobody needs here. Long values are cut.
 */
export const shownIdentity = ({ role_claim }: Pick<IdentityProvider, 'role_claim'>, token: IdentityClaims): ShownIdentity => {
  const email = textOf(token.email) ?? textOf(token.preferred_username) ?? textOf(token.upn);
  const methods = claimValues(token, 'amr');
  const claims = {
    email_verified: scalar(token.email_verified),
    acr: scalar(token.acr),
    ...(methods.length > 0 && { amr: listed(methods) }),
    ...(role_claim !== null && { [role_claim]: listed(claimValues(token, role_claim)) }),
  };
  return {
    subject: cutText(token.sub, MAX_SUBJECT_CHARACTERS),
    email: email === undefined ? null : cutText(email, MAX_EMAIL_CHARACTERS),
    claims: Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)),
  };
};
