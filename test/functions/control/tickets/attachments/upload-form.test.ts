import { expect, test } from '@jest/globals';
import { SignatureV4 } from '@smithy/signature-v4';
import { uploadFields } from '../../../../../functions/control/tickets/attachments/upload-form.ts';
import { Sha256 } from '../../../../support/sha256.ts';

const NOW_MS = Date.UTC(2026, 10, 1, 9, 30, 15);
const upload = { bucket: 'files', key: 'pending/a', contentType: 'text/plain', bytes: 7, expiresAtMs: NOW_MS + 900_000 };

test.each([undefined, 'a/session+token='])(
  'the policy has every field, and AWS’s own signer signs it the same way (session token: %s)',
  async (sessionToken) => {
    const credentials = { accessKeyId: 'AKIA', secretAccessKey: 'secret', ...(sessionToken && { sessionToken }) };
    const { policy = '', 'x-amz-signature': signature, ...fields } = uploadFields(upload, credentials, 'eu-west-1', NOW_MS);
    expect(fields).toEqual({
      key: 'pending/a',
      'Content-Type': 'text/plain',
      'x-amz-algorithm': 'AWS4-HMAC-SHA256',
      'x-amz-credential': 'AKIA/20261101/eu-west-1/s3/aws4_request',
      'x-amz-date': '20261101T093015Z',
      ...(sessionToken && { 'x-amz-security-token': sessionToken }),
    });
    expect(JSON.parse(Buffer.from(policy, 'base64').toString())).toEqual({
      expiration: '2026-11-01T09:45:15.000Z',
      conditions: [
        { bucket: 'files' },
        ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
        ['content-length-range', 7, 7],
      ],
    });
    const signer = new SignatureV4({ service: 's3', region: 'eu-west-1', credentials, sha256: Sha256 });
    expect(signature).toBe(await signer.sign(policy, { signingDate: new Date(NOW_MS) }));
  },
);
