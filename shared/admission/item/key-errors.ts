import type { HostScope } from '../../hosts/host.ts';
import { ApiError } from '../../http/errors.ts';

/** 401. Its message is sent as the plain string that interface 7 requires. */
export class InvalidApiKey extends ApiError {
  constructor(message: string) {
    super({ status: 401, type: 'authentication_error', code: 'invalid_api_key', message, headers: { 'www-authenticate': 'Bearer' } });
  }
}

const SEND_IT = "Send it in the header 'Authorization: Bearer <API key>'.";

export const missingKey = (): InvalidApiKey => new InvalidApiKey(`You didn't provide an API key. ${SEND_IT}`);

/** @param header a header of other APIs, in which the caller sent a key */
export const keyInOtherHeader = (header: string): InvalidApiKey =>
  new InvalidApiKey(`You sent an API key in the header '${header}', which this API doesn't read. ${SEND_IT}`);

export const keyWithoutScheme = (): InvalidApiKey =>
  new InvalidApiKey(`Your 'Authorization' header has an API key without 'Bearer' before it. ${SEND_IT}`);

/** The same message for every invalid key: unknown, wrong or revoked. */
export const wrongKey = (): InvalidApiKey =>
  new InvalidApiKey('Your API key is not valid. Check that you copied the whole key and that it has not been revoked.');

export const expiredKey = (): InvalidApiKey =>
  new InvalidApiKey('Your API key has expired. Create a new one, or ask an owner of your organization for one.');

/** @param url of the host that the key is for, if known */
export const wrongHost = (scope: HostScope, url?: string): InvalidApiKey =>
  new InvalidApiKey(
    `This is an API key for the ${scope === 'on_demand' ? 'on-demand' : 'serverless'} host, not for this one. Send it to ${url ?? 'that host'}.`,
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
