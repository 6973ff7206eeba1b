import { createHmac } from 'node:crypto';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP_SECONDS = 30;

/** The six-digit code that an authenticator app shows now for a base32 secret (RFC 6238). */
export const totpOf = (secret: string): string => {
  const bits = [...secret.replace(/=+$/, '')].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1_000 / STEP_SECONDS)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = (digest.at(-1) as number) & 15;
  return String((digest.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, '0');
};

/** An incorrect code for this secret. */
export const wrongTotpOf = (secret: string): string => totpOf(secret).replace(/.$/, (digit) => String((Number(digit) + 5) % 10));
