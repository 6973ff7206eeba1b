import { type ApiEvent, headerOf } from './api-event.ts';
import { InvalidRequest } from './errors.ts';

export const USER_HEADER = 'X-User-Id';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** 400: the request does not identify its end user. */
export const invalidUserId = (): InvalidRequest =>
  new InvalidRequest({
    param: USER_HEADER,
    code: 'invalid_user_id',
    message: `The header '${USER_HEADER}' must be a UUID that identifies your end user, such as 3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11.`,
  });

/** The id of the request's end user, in lower case. @throws 400 if the header is missing, repeated or not a UUID */
export const userIdOf = (event: ApiEvent): string => {
  // API Gateway passes on only the last of several headers, and the end user must not depend on that.
  const names = Object.entries(event.multiValueHeaders ?? {}).filter(([name]) => name.toLowerCase() === USER_HEADER.toLowerCase());
  if (names.flatMap(([, values]) => values ?? []).length > 1) throw invalidUserId();
  const userId = headerOf(event, USER_HEADER.toLowerCase())?.trim();
  if (!userId || !UUID.test(userId)) throw invalidUserId();
  return userId.toLowerCase();
};
