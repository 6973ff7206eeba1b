/** An error response of S3. */
export interface S3Error {
  status: number;
  code: string;
  message: string;
}

export const noSuchBucket: S3Error = { status: 404, code: 'NoSuchBucket', message: 'The specified bucket does not exist' };
export const noSuchKey: S3Error = { status: 404, code: 'NoSuchKey', message: 'The specified key does not exist.' };
export const keyTooLong: S3Error = { status: 400, code: 'KeyTooLongError', message: 'Your key is too long' };
export const preconditionFailed: S3Error = {
  status: 412,
  code: 'PreconditionFailed',
  message: 'At least one of the pre-conditions you specified did not hold',
};
export const invalidUri: S3Error = { status: 400, code: 'InvalidURI', message: "Couldn't parse the specified URI." };
export const entityTooLarge: S3Error = {
  status: 400,
  code: 'EntityTooLarge',
  message: 'Your proposed upload exceeds the maximum allowed size',
};
export const notImplemented: S3Error = {
  status: 501,
  code: 'NotImplemented',
  message:
    'The local run supports only GetObject, HeadObject, PutObject and UploadPart with an unchunked body, forms, CopyObject, DeleteObject, multipart uploads, and ListObjectsV2 without a delimiter.',
};
export const accessDenied: S3Error = { status: 403, code: 'AccessDenied', message: 'Access Denied' };
export const requestExpired: S3Error = { status: 403, code: 'AccessDenied', message: 'Request has expired' };
export const incompleteSignature: S3Error = {
  status: 400,
  code: 'AuthorizationQueryParametersError',
  message:
    'Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.',
};
export const noSuchUpload: S3Error = {
  status: 404,
  code: 'NoSuchUpload',
  message: 'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
};
export const invalidPart: S3Error = {
  status: 400,
  code: 'InvalidPart',
  message:
    "One or more of the specified parts could not be found. The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
};
export const invalidPartOrder: S3Error = {
  status: 400,
  code: 'InvalidPartOrder',
  message: 'The list of parts was not in ascending order. Parts must be ordered by part number.',
};
export const entityTooSmall: S3Error = {
  status: 400,
  code: 'EntityTooSmall',
  message: 'Your proposed upload is smaller than the minimum allowed size',
};
export const invalidArgument: S3Error = {
  status: 400,
  code: 'InvalidArgument',
  message: 'Part number must be an integer between 1 and 10000, inclusive',
};
export const malformedXml: S3Error = {
  status: 400,
  code: 'MalformedXML',
  message: 'The XML you provided was not well-formed or did not validate against our published schema',
};

export const malformedForm: S3Error = {
  status: 400,
  code: 'MalformedPOSTRequest',
  message: 'The body of your POST request is not well-formed multipart/form-data.',
};
export const invalidPolicy: S3Error = { status: 400, code: 'InvalidPolicyDocument', message: 'Invalid Policy: Invalid JSON.' };
export const policyRefuses = (reason: string): S3Error => ({
  status: 403,
  code: 'AccessDenied',
  message: `Invalid according to Policy: ${reason}`,
});
export const signatureDoesNotMatch: S3Error = {
  status: 403,
  code: 'SignatureDoesNotMatch',
  message: 'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
};

export const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Builds the body of an error response. */
export const toXml = ({ code, message }: S3Error, resource: string, requestId: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message><Resource>${escapeXml(resource)}</Resource><RequestId>${requestId}</RequestId></Error>`;
