/** An error response of Cognito. */
export class Fault extends Error {
  readonly type: string;
  readonly status: number;

  constructor(type: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

export const notAuthorized = (message: string): Fault => new Fault('NotAuthorizedException', message);

/** For both a wrong password and an unknown user, so that callers cannot tell them apart. */
export const wrongPassword = (): Fault => notAuthorized('Incorrect username or password.');

export const userDisabled = (): Fault => notAuthorized('User is disabled.');

export const userNotFound = (): Fault => new Fault('UserNotFoundException', 'User does not exist.');

export const invalidParameter = (message: string): Fault => new Fault('InvalidParameterException', message);

export const poolNotFound = (id: string): Fault => new Fault('ResourceNotFoundException', `User pool or client ${id} does not exist.`);

/** cognito-local has failed or is restarting. SDKs retry this error. */
export const internalError = (): Fault => new Fault('InternalErrorException', 'cognito-local failed. See cognito.log.', 500);

/** Whether an error is a Fault of this type. */
export const isFault = (error: unknown, type: string): boolean => error instanceof Fault && error.type === type;
