import { cutText } from '../../../shared/database/cut-text.ts';
import type { IdentityClaims } from '../../../shared/federation/claim-fault.ts';
import { shownNumber } from './shown-number.ts';

const MAX_CLAIMS = 50;
const MAX_VALUES = 200;
const MAX_CHARACTERS = 256;

const cut = (text: string): string => cutText(text, MAX_CHARACTERS);

const shown = (value: unknown): unknown => {
  if (typeof value === 'string') return cut(value);
  if (typeof value === 'number') return shownNumber(value);
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value))
    return value
      .slice(0, MAX_VALUES)
      .filter((each) => typeof each === 'string')
      .map(shown);
  return cut(JSON.stringify(value));
};

// They tie the token to this login, and are of no use to a reader.
const WITHHELD = new Set(['nonce', 'at_hash', 'c_hash', 's_hash', 'jti', 'sid']);

/** The claims of an ID token that the result of a test shows, cut to a bounded size. */
export const shownClaims = (claims: IdentityClaims): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(claims)
      // The database stores no attribute without a name.
      .filter(([name]) => name !== '' && !WITHHELD.has(name))
      .slice(0, MAX_CLAIMS)
      .map(([name, value]) => [cut(name), shown(value)]),
  );
