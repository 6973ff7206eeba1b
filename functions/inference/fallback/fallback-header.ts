import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';
import { InvalidRequest } from '../../../shared/http/errors.ts';

/**
 * In a request, `off`: only the model that it names may answer. In a reply: the number of the fallback that answered.
 */
export const FALLBACK_HEADER = 'x-sluice-fallback';

/** The header of a reply that a fallback gave. @param number its number among the fallbacks, from 1 */
export const fallbackHeader = (number: number): Record<string, string> => ({ [FALLBACK_HEADER]: String(number) });

/** 400: the header of a request is neither `off` nor `on`. */
export const invalidFallbackHeader = (): InvalidRequest =>
  new InvalidRequest({
    param: FALLBACK_HEADER,
    code: 'invalid_value',
    message: `The header '${FALLBACK_HEADER}' must be 'off' or 'on'. Leave it out to allow fallbacks.`,
  });

/** True if the caller forbids fallbacks for this request. @throws 400 */
export const isFallbackOff = (event: ApiEvent): boolean => {
  const value = headerOf(event, FALLBACK_HEADER)?.trim().toLowerCase();
  if (value !== undefined && value !== 'off' && value !== 'on') throw invalidFallbackHeader();
  return value === 'off';
};
