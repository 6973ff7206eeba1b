import type { ApiError } from './errors.ts';
import { SCIM_CONTENT_TYPE } from './scim-path.ts';

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

// By the code of the error. A 400 with another code is a value that is not accepted.
const SCIM_TYPES: Readonly<Record<string, string>> = {
  invalid_filter: 'invalidFilter',
  invalid_path: 'invalidPath',
  invalid_json: 'invalidSyntax',
  not_changeable: 'mutability',
  email_taken: 'uniqueness',
};

const scimTypeOf = ({ code, status }: ApiError): string | undefined =>
  SCIM_TYPES[code ?? ''] ?? (status === 400 ? 'invalidValue' : undefined);

/** An error as identity providers expect it (RFC 7644, section 3.12): the status is a string, too. */
export const toScimFailure = (
  error: ApiError,
  requestId: string,
): { status: number; headers: Record<string, string>; body: Record<string, unknown> } => {
  const scimType = scimTypeOf(error);
  return {
    status: error.status,
    headers: { ...error.headers, 'content-type': SCIM_CONTENT_TYPE },
    body: {
      schemas: [ERROR_SCHEMA],
      status: String(error.status),
      ...(scimType !== undefined && { scimType }),
      detail: error.message,
      code: error.code,
      request_id: requestId,
    },
  };
};
