import { cutText } from '../../../shared/database/cut-text.ts';
import type { IdentityClaims } from '../../../shared/federation/claim-fault.ts';
import { ANY_END, type FederationRule } from '../../../shared/federation/rule.ts';
import { MAX_EVENT_CHARACTERS, type SignInEvent } from '../../../shared/federation/sign-in-events.ts';

type Differing = SignInEvent['differing_claims'];

// More would make an event hard to read.
const MAX_DIFFERING = 10;

const textOf = (value: unknown): string | null => (['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null);

const matchesSubject = (expected: string, subject: string): boolean =>
  expected.endsWith(ANY_END) ? subject.startsWith(expected.slice(0, -ANY_END.length)) : subject === expected;

const cut = (text: string): string => cutText(text, MAX_EVENT_CHARACTERS);

/** Returns the claims of a verified token that a rule does not match; empty if it matches. */
export const differingClaims = ({ subject, claims: expected }: FederationRule, claims: IdentityClaims): Differing => {
  const differing: Differing = [];
  if (subject !== null && !matchesSubject(subject, claims.sub))
    differing.push({ claim: 'sub', expected: cut(subject), actual: cut(claims.sub) });
  for (const [claim, value] of Object.entries(expected)) {
    const actual = Object.hasOwn(claims, claim) ? textOf(claims[claim]) : null;
    if (actual !== value) differing.push({ claim, expected: cut(value), actual: actual === null ? null : cut(actual) });
  }
  return differing.slice(0, MAX_DIFFERING);
};
