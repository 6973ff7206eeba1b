import { ApiError, Conflict, InvalidRequest, InvalidValue } from '../../../../shared/http/errors.ts';

/** 400 for a filter of another form than identity providers send. */
export class InvalidScimFilter extends InvalidRequest {
  /** @param wanted what is supported, such as `userName eq "ada@example.com"` */
  constructor(wanted: string) {
    super({ code: 'invalid_filter', param: 'filter', message: `This filter is not supported. Use ${wanted}.` });
  }
}

/** 400 for the path of an operation of a PATCH. */
export class InvalidScimPath extends InvalidRequest {
  constructor(path: string) {
    super({
      code: 'invalid_path',
      param: 'Operations',
      message: `The path '${path.slice(0, 100)}' is not supported. Use the name of an attribute, such as 'active' or 'name.givenName'.`,
    });
  }
}

/** 400 for a value of an attribute. */
export class InvalidScimValue extends InvalidValue {
  constructor(attribute: string, expected: string) {
    super(attribute, `expected ${expected}`, 'invalid_value');
  }
}

/** 400 for a changed user name: users log in with it, and it stays theirs. */
export class UserNameNotChangeable extends InvalidRequest {
  constructor() {
    super({
      code: 'not_changeable',
      param: 'userName',
      message: "The userName of a user can't be changed. Delete the user, and provision them again with the new one.",
    });
  }
}

/** 409 for a user whom this connection must not deactivate, delete or give another role. */
export class ProtectedUser extends Conflict {
  constructor(reason: 'last_owner' | 'break_glass') {
    super({
      code: reason,
      message:
        reason === 'last_owner'
          ? 'This user is the last active owner of the organization. Add another owner first.'
          : 'This user is the owner who can log in without single sign-on. Choose another break_glass user of the identity provider first.',
    });
  }
}

/** 401 for every SCIM token that is not accepted. */
export class WrongScimToken extends ApiError {
  constructor() {
    super({
      status: 401,
      type: 'authentication_error',
      code: 'invalid_token',
      message: 'The SCIM token is missing or invalid. Create one for your identity provider, and send it as a bearer token.',
      headers: { 'www-authenticate': 'Bearer' },
    });
  }
}
