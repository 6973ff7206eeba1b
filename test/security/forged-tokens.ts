import { createSign, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const PACKAGE = path.dirname(createRequire(import.meta.url).resolve('cognito-local/package.json'));
// The emulator signs with this private key. It ships with the emulator, so it is public.
const { pem } = JSON.parse(readFileSync(path.join(PACKAGE, 'lib/keys/cognitoLocal.private.json'), 'utf8')) as { pem: string };

type Claims = Record<string, unknown>;

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const partsOf = (token: string): { header: Claims; claims: Claims } => {
  const [header = {}, claims = {}] = token
    .split('.')
    .slice(0, 2)
    .map((text) => JSON.parse(Buffer.from(text, 'base64url').toString()) as Claims);
  return { header, claims };
};

const sign = (header: Claims, claims: Claims, key: string): string => {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`;
};

/** The same token with these claims changed and a valid signature. */
export const withClaims = (token: string, changed: Claims): string => {
  const { header, claims } = partsOf(token);
  return sign(header, { ...claims, ...changed }, pem);
};

/** The same token, signed with another key. */
export const signedByAnother = (token: string): string => {
  const { header, claims } = partsOf(token);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return sign(header, claims, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
};

/** The same token without a signature and with `alg: none`. */
export const unsigned = (token: string): string => {
  const { header, claims } = partsOf(token);
  return `${part({ ...header, alg: 'none' })}.${part(claims)}.`;
};
