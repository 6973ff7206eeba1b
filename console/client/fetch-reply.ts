import { failureOf, textOf, unreachable } from './api-failure.ts';
import { parseJson } from './json.ts';

/** Sends a request. @throws ApiFailure without a reply, and the signal's reason if it was aborted */
export const fetchReply = (url: URL, init: RequestInit): Promise<Response> =>
  fetch(url, init).catch((error: unknown) => {
    throw init.signal?.aborted ? error : unreachable();
  });

/**
 * The JSON of a reply; undefined without a body.
 * @throws ApiFailure for a status that is no success, and as `textOf`
 */
export const jsonOf = async (response: Response): Promise<unknown> => {
  if (!response.ok) throw await failureOf(response);
  const text = await textOf(response);
  return text === '' ? undefined : parseJson(text);
};
