import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import {
  entityTooLarge,
  entityTooSmall,
  invalidPolicy,
  malformedForm,
  policyRefuses,
  type S3Error,
  signatureDoesNotMatch,
} from './errors.ts';

/** The keys whose signatures are valid. All have the same secret. */
export interface SigningKeys {
  accessKeyIds: readonly string[];
  secretAccessKey: string;
}

/** The file of an accepted form. */
export interface UploadedFile {
  key: string;
  contentType: string | undefined;
  content: Buffer;
}

const Policy = z.object({
  expiration: z.iso.datetime(),
  conditions: z
    .array(
      z.union([
        z.record(z.string(), z.string()),
        z.tuple([z.enum(['eq', 'starts-with']), z.string().startsWith('$'), z.string()]),
        z.tuple([z.literal('content-length-range'), z.int().min(0), z.int().min(0)]),
      ]),
    )
    .max(100),
});
type Policy = z.infer<typeof Policy>;

interface Match {
  operator: 'eq' | 'starts-with';
  name: string;
  value: string;
}

interface Form {
  /** By lower-case names. */
  fields: ReadonlyMap<string, string>;
  file: File;
}

// No condition needs to cover these fields.
const isUncovered = (name: string): boolean => ['policy', 'x-amz-signature', 'file'].includes(name) || name.startsWith('x-ignore-');

// S3 reads a form up to its file. Undefined if it has no file, or is no form.
const readForm = async (body: Buffer, contentType: string): Promise<Form | undefined> => {
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
  } catch {
    return undefined;
  }
  const fields = new Map<string, string>();
  for (const [name, value] of form.entries()) {
    if (typeof value === 'string') fields.set(name.toLowerCase(), value);
    else return name === 'file' ? { fields, file: value } : undefined;
  }
  return undefined;
};

const readPolicy = (text: string): Policy | undefined => {
  try {
    return Policy.parse(JSON.parse(Buffer.from(text, 'base64').toString()));
  } catch {
    return undefined;
  }
};

const matchesOf = ({ conditions }: Policy): Match[] =>
  conditions.flatMap((condition): Match[] => {
    if (!Array.isArray(condition))
      return Object.entries(condition).map(([name, value]) => ({ operator: 'eq', name: name.toLowerCase(), value }));
    const [operator, name, value] = condition;
    return operator === 'content-length-range' ? [] : [{ operator, name: name.slice(1).toLowerCase(), value }];
  });

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const isSigned = ({ fields }: Form, { accessKeyIds, secretAccessKey }: SigningKeys): boolean => {
  const [id, ...scope] = (fields.get('x-amz-credential') ?? '').split('/');
  const [day, , service, end] = scope;
  if (fields.get('x-amz-algorithm') !== 'AWS4-HMAC-SHA256' || !accessKeyIds.includes(id ?? '')) return false;
  if (scope.length !== 4 || service !== 's3' || end !== 'aws4_request' || !fields.get('x-amz-date')?.startsWith(`${day}T`)) return false;
  const key = scope.reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`);
  const expected = hmac(key, fields.get('policy') ?? '');
  const sent = Buffer.from(fields.get('x-amz-signature') ?? '', 'hex');
  return sent.length === expected.length && timingSafeEqual(sent, expected);
};

// Undefined if the form is as its policy says.
const policyFault = (policy: Policy, bucket: string, { fields, file }: Form, nowMs: number): S3Error | undefined => {
  if (Date.parse(policy.expiration) <= nowMs) return policyRefuses('Policy expired.');
  const matches = matchesOf(policy);
  const sent = new Map([...fields, ['bucket', bucket]]);
  const failed = matches.find(({ operator, name, value }) => {
    const found = sent.get(name) ?? '';
    return operator === 'eq' ? found !== value : !found.startsWith(value);
  });
  if (failed) return policyRefuses(`Policy Condition failed: ["${failed.operator}", "$${failed.name}", "${failed.value}"]`);
  const extra = [...fields.keys()].find((name) => !isUncovered(name) && !matches.some((match) => match.name === name));
  if (extra !== undefined) return policyRefuses(`Extra input fields: ${extra}`);
  for (const [operator, least, most] of policy.conditions.filter((condition) => Array.isArray(condition))) {
    if (operator !== 'content-length-range') continue;
    if (file.size < least) return entityTooSmall;
    if (file.size > most) return entityTooLarge;
  }
  return undefined;
};

/**
 * Reads the form of an upload, and checks its signature and its policy as S3 does
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-authentication-HTTPPOST.html). Every form needs a policy,
 * because no bucket is public.
 */
export const readUploadForm = async (
  bucket: string,
  { body, contentType }: { body: Buffer; contentType: string },
  keys: SigningKeys,
  nowMs: number,
): Promise<UploadedFile | S3Error> => {
  const form = await readForm(body, contentType);
  const key = form?.fields.get('key');
  if (!form || !key) return malformedForm;
  if (!isSigned(form, keys)) return signatureDoesNotMatch;
  const policy = readPolicy(form.fields.get('policy') ?? '');
  if (!policy) return invalidPolicy;
  const fault = policyFault(policy, bucket, form, nowMs);
  if (fault) return fault;
  return { key, contentType: form.fields.get('content-type'), content: Buffer.from(await form.file.arrayBuffer()) };
};
