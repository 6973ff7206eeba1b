import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';
import { InvalidRequest } from '../../../shared/http/errors.ts';

/** The value `off` keeps the content of the request out of the log. */
export const LOG_HEADER = 'x-sluice-log';

// A caller can't switch the log on.
const invalidLogHeader = (): InvalidRequest =>
  new InvalidRequest({
    param: LOG_HEADER,
    code: 'invalid_value',
    message: `The header '${LOG_HEADER}' must be 'off' or absent. Only an owner of your organization can switch the payload log on.`,
  });

const isLogOff = (event: ApiEvent): boolean => {
  const header = headerOf(event, LOG_HEADER)?.trim();
  if (header === undefined) return false;
  if (header.toLowerCase() !== 'off') throw invalidLogHeader();
  return true;
};

/**
 * Checks the header also where nothing is logged, so that all routes with content accept the same values.
 * @throws 400
 */
export const checkLogHeader = (event: ApiEvent): void => {
  isLogOff(event);
};

/** True if the content of an admitted request is logged. @throws 400 */
export const isLogged = ({ isPayloadLogged }: { isPayloadLogged: boolean }, event: ApiEvent): boolean =>
  isPayloadLogged && !isLogOff(event);
