import type { IssuerFault } from '../../../shared/federation/errors.ts';
import { Conflict, InvalidRequest } from '../../../shared/http/errors.ts';

const FAULTS: Partial<Record<IssuerFault, string>> = {
  bad_status: 'it did not answer with status 200',
  body_too_long_or_cut: 'its document is longer than 64 kB, or broke off',
  not_json: 'its document is not JSON',
  invalid_document: "its document lacks 'issuer' or 'jwks_uri'",
  issuer_differs: "its document names another issuer; copy the value of 'issuer' from there",
};

/** 400 for a provider whose discovery document can't be used. */
export class ProviderUnusable extends InvalidRequest {
  /** @param fault the end of a sentence */
  constructor(fault: string) {
    super({
      code: 'issuer_unusable',
      param: 'issuer',
      message: `The issuer's /.well-known/openid-configuration can't be used: ${fault}. Correct it, then try again in 30 seconds.`,
    });
  }
}

/** Says why a discovery document could not be read. The response is never quoted. */
export const issuerFaultText = (fault: IssuerFault): string => FAULTS[fault] ?? `it could not be fetched (${fault})`;

/** 409 for a domain whose TXT record does not prove anything yet. */
export class DomainNotVerified extends Conflict {
  constructor(name: string, isReachable: boolean) {
    super({
      code: 'domain_not_verified',
      message: isReachable
        ? `${name} has no TXT record with the expected value yet. Set it, then try again; a change of DNS can take an hour.`
        : `The DNS servers of ${name} did not answer. Check the domain, then try again.`,
    });
  }
}

/** 409 for a connection that can't be enforced as it is. */
export class NotEnforceable extends Conflict {
  /** @param missing what is missing and what to do, as sentences */
  constructor(missing: string, param: string) {
    super({ code: 'not_enforceable', param, message: `The identity provider can't be enforced: ${missing}` });
  }
}
