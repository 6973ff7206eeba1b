import type { Scope } from '../hosts/host.ts';
import { ApiError } from '../http/errors.ts';

/** 401. Its message is sent as the plain string that interface 7 requires. */
export class InvalidApiKey extends ApiError {
  constructor(message: string) {
    super({ status: 401, type: 'authentication_error', code: 'invalid_api_key', message, headers: { 'www-authenticate': 'Bearer' } });
  }
}

export const missingKey = (): InvalidApiKey =>
  new InvalidApiKey("You didn't provide an API key. Send it in the header 'Authorization: Bearer <API key>'.");

/** The same message for every invalid key: unknown, wrong or revoked. */
export const wrongKey = (): InvalidApiKey =>
  new InvalidApiKey('Your API key is not valid. Check that you copied the whole key and that it has not been revoked.');

export const expiredKey = (): InvalidApiKey => new InvalidApiKey('Your API key has expired. Create a new one in the console.');

/** @param url of the host that the key is for, if known */
export const wrongHost = (scope: Scope, url?: string): InvalidApiKey =>
  new InvalidApiKey(
    `This is an API key for the ${scope === 'on_demand' ? 'on-demand' : 'serverless'} host, not for this one.${url ? ` Send it to ${url}.` : ''}`,
  );

/** The model is not on the key's allow-list: 403. */
export class ModelNotAllowed extends ApiError {
  constructor(model: string, headers: Record<string, string>) {
    super({
      status: 403,
      headers,
      type: 'permission_error',
      code: 'model_not_allowed',
      param: 'model',
      message: `This API key can't use the model '${model}'. Use a model on the key's allow-list, or add this model to the list.`,
    });
  }
}
