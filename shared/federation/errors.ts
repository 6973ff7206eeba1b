import type { RequestError } from '../network/guarded-request.ts';

/** Why a document of an issuer can't be used. */
export type IssuerFault =
  | RequestError
  | 'bad_status'
  | 'body_too_long_or_cut'
  | 'not_json'
  | 'invalid_document'
  | 'issuer_differs'
  | 'too_many_fetches';

/** Why a token was not accepted. */
export type TokenFault =
  | 'malformed'
  | 'issuer_mismatch'
  | 'audience_mismatch'
  | 'authorized_party_mismatch'
  | 'nonce_mismatch'
  | 'algorithm_not_allowed'
  | 'type_not_allowed'
  | 'key_id_missing'
  | 'key_unknown'
  | 'signature_invalid'
  | 'subject_missing'
  | 'time_missing'
  | 'expired'
  | 'issued_in_the_future'
  | 'not_yet_valid'
  | 'lifetime_too_long';

/** An issuer's document could not be fetched or used. The response is never kept: it could be of a private network. */
export class IssuerUnavailable extends Error {
  readonly fault: IssuerFault;

  constructor(fault: IssuerFault) {
    super(`The issuer's document can't be used: ${fault}.`);
    this.fault = fault;
  }
}

/** A token that must not be accepted. */
export class TokenRejected extends Error {
  readonly fault: TokenFault;

  constructor(fault: TokenFault) {
    super(`The token is not accepted: ${fault}.`);
    this.fault = fault;
  }
}
