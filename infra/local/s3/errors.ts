/** An error response of S3. */
export interface S3Error {
  status: number;
  code: string;
  message: string;
}

export const noSuchBucket: S3Error = { status: 404, code: 'NoSuchBucket', message: 'The specified bucket does not exist' };
export const noSuchKey: S3Error = { status: 404, code: 'NoSuchKey', message: 'The specified key does not exist.' };
export const keyTooLong: S3Error = { status: 400, code: 'KeyTooLongError', message: 'Your key is too long' };
export const alreadyExists: S3Error = {
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
  message: 'The local run supports only GetObject, HeadObject, PutObject with an unchunked body, and ListObjectsV2 without a delimiter.',
};

export const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Builds the body of an error response. */
export const toXml = ({ code, message }: S3Error, resource: string, requestId: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message><Resource>${escapeXml(resource)}</Resource><RequestId>${requestId}</RequestId></Error>`;
