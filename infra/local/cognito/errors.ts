import { AwsError } from '../http/json-api.ts';

export const notAuthorized = (message: string): AwsError => new AwsError('NotAuthorizedException', message);

/** For both a wrong password and an unknown user, so that callers cannot tell them apart. */
export const wrongPassword = (): AwsError => notAuthorized('Incorrect username or password.');

export const userDisabled = (): AwsError => notAuthorized('User is disabled.');

export const userNotFound = (): AwsError => new AwsError('UserNotFoundException', 'User does not exist.');

export const invalidParameter = (message: string): AwsError => new AwsError('InvalidParameterException', message);

export const poolNotFound = (id: string): AwsError =>
  new AwsError('ResourceNotFoundException', `User pool or client ${id} does not exist.`);

/** cognito-local has failed or is restarting. SDKs retry this error. */
export const internalError = (): AwsError => new AwsError('InternalErrorException', 'cognito-local failed. See cognito.log.', 500);

export const isAwsError = (error: unknown, type: string): boolean => error instanceof AwsError && error.type === type;
