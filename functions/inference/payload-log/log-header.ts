import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';
import { InvalidRequest } from '../../../shared/http/errors.ts';

/** With the value `off`, the content of the request is not logged. */
export const LOG_HEADER = 'x-sluice-log';

/** 400: the header has another value. A caller can't switch the log on. */
const invalidLogHeader = (): InvalidRequest =>
  new InvalidRequest({
    param: LOG_HEADER,
    code: 'invalid_value',
    message: `The header '${LOG_HEADER}' must be 'off' or absent. Only an owner of your organization can switch the payload log on.`,
  });

/** Whether the caller forbids that the content of this request is logged. @throws 400 */
const isLogOff = (event: ApiEvent): boolean => {
  const header = headerOf(event, LOG_HEADER)?.trim();
  if (header === undefined) return false;
  if (header.toLowerCase() !== 'off') throw invalidLogHeader();
  return true;
};

/** Checks the header also where nothing is logged, so that all routes that take content accept the same. @throws 400 */
export const checkLogHeader = (event: ApiEvent): void => {
  isLogOff(event);
};

/** Whether the content of an admitted request is logged. */
export const isLogged = ({ isPayloadLogged }: { isPayloadLogged: boolean }, event: ApiEvent): boolean =>
  isPayloadLogged && !isLogOff(event);
