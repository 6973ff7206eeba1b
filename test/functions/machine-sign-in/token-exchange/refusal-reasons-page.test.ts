import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { IssuerFault, TokenFault } from '../../../../shared/federation/errors.ts';

// Only ID tokens have these: a workload's token has no nonce and no authorized party to check.
type FaultOfIdToken = 'nonce_mismatch' | 'authorized_party_mismatch';

const REASONS = {
  ...{ service_account_disabled: true, rule_disabled: true, claims_differ: true, token_already_used: true },
  ...({
    ...{ malformed: true, issuer_mismatch: true, audience_mismatch: true, algorithm_not_allowed: true, type_not_allowed: true },
    ...{ key_id_missing: true, key_unknown: true, signature_invalid: true, subject_missing: true, time_missing: true },
    ...{ expired: true, issued_in_the_future: true, not_yet_valid: true, lifetime_too_long: true },
  } satisfies Record<Exclude<TokenFault, FaultOfIdToken>, true>),
  ...({
    ...{ url_refused: true, address_refused: true, dns_failed: true, connection_failed: true, tls_failed: true, timed_out: true },
    ...{ bad_status: true, body_too_long_or_cut: true, not_json: true, invalid_document: true, issuer_differs: true },
    too_many_fetches: true,
  } satisfies Record<IssuerFault, true>),
};

describe('docs/federation-rules.md', () => {
  test('says what to do for each reason for which a token can be refused', () => {
    const [, section = ''] = readFileSync('docs/federation-rules.md', 'utf8').split('## If a token is refused');
    const rows = [...section.matchAll(/^\| (`\w+`(?:, `\w+`)*) +\|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []);
    expect(rows.filter((reason) => reason !== 'reason').sort()).toEqual(Object.keys(REASONS).sort());
  });
});
