import { randomBytes } from 'node:crypto';
import type { PasswordPolicy } from '../../assembly/local-app.ts';
import { AwsError } from '../http/json-api.ts';

const MAX_LENGTH = 256;
// https://docs.aws.amazon.com/cognito/latest/developerguide/managing-users-passwords.html
const SYMBOL = /[\^$*.[\]{}()?"!@#%&/\\,><':;|_~`=+\- ]/;
const ONE_OF_EACH_KIND = 'aA1!';
const RANDOM_BYTES = 12;

/** Throws InvalidPasswordException if a new password does not meet the policy. */
export const checkPassword = (password: string, policy: PasswordPolicy): void => {
  const reject = (what: string): never => {
    throw new AwsError('InvalidPasswordException', `Password did not conform with policy: ${what}`);
  };
  if (password.length < policy.minLength || password.length > MAX_LENGTH) reject('Password not long enough');
  if (policy.requiresUppercase && !/[A-Z]/.test(password)) reject('Password must have uppercase characters');
  if (policy.requiresLowercase && !/[a-z]/.test(password)) reject('Password must have lowercase characters');
  if (policy.requiresDigits && !/\d/.test(password)) reject('Password must have numeric characters');
  if (policy.requiresSymbols && !SYMBOL.test(password)) reject('Password must have symbol characters');
};

/** Creates a random password that meets every policy with a minimum length of up to 20. */
export const createTemporaryPassword = (): string => `${randomBytes(RANDOM_BYTES).toString('base64url')}${ONE_OF_EACH_KIND}`;
