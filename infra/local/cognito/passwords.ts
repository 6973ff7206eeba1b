import { randomBytes } from 'node:crypto';
import type { PasswordPolicy } from '../assembly/local-app.ts';
import { Fault } from './fault.ts';

const MAX_LENGTH = 256;
// https://docs.aws.amazon.com/cognito/latest/developerguide/managing-users-passwords.html
const SYMBOL = /[\^$*.[\]{}()?"!@#%&/\\,><':;|_~`=+\- ]/;
const ONE_OF_EACH_KIND = 'aA1!';
const RANDOM_BYTES = 12;

/** Throws InvalidPasswordException for a new password that the policy does not take, naming what is missing. */
export const checkPassword = (password: string, policy: PasswordPolicy): void => {
  const refuse = (what: string): never => {
    throw new Fault('InvalidPasswordException', `Password did not conform with policy: ${what}`);
  };
  if (password.length < policy.minLength || password.length > MAX_LENGTH) refuse('Password not long enough');
  if (policy.requiresUppercase && !/[A-Z]/.test(password)) refuse('Password must have uppercase characters');
  if (policy.requiresLowercase && !/[a-z]/.test(password)) refuse('Password must have lowercase characters');
  if (policy.requiresDigits && !/\d/.test(password)) refuse('Password must have numeric characters');
  if (policy.requiresSymbols && !SYMBOL.test(password)) refuse('Password must have symbol characters');
};

/** A random password that every policy of up to 20 characters takes. */
export const createTemporaryPassword = (): string => `${randomBytes(RANDOM_BYTES).toString('base64url')}${ONE_OF_EACH_KIND}`;
