import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';

/** `version-trace id-parent id-flags`; ids must not be zero, and `ff` is no version. Versions after `00` can continue with more fields. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=-|$)/;
const LENGTH = 55;

/** The caller's `traceparent` in version 00 (https://www.w3.org/TR/trace-context/); undefined if it is missing or invalid. */
export const traceparentOf = (event: ApiEvent): string | undefined => {
  const header = headerOf(event, 'traceparent');
  const [, version] = (header && TRACEPARENT.exec(header)) || [];
  if (header === undefined || version === undefined || (version === '00' && header.length !== LENGTH)) return undefined;
  return `00${header.slice(2, LENGTH)}`;
};
