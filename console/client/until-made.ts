import { ApiFailure } from './api-failure.ts';

const MAX_ATTEMPTS = 6;
const WAIT_SECONDS = 5;

const wait = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

/**
 * Reads where the file of a document is. A file that is still being made is asked for again as often as the service
 * says, at most six times.
 * @throws ApiFailure
 */
export const untilMade = async <Reply>(read: () => Promise<Reply>, pause = wait): Promise<Reply> => {
  for (let attempt = 1; ; attempt++)
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'not_rendered_yet' || attempt === MAX_ATTEMPTS) throw error;
      await pause(error.retryAfterSeconds ?? WAIT_SECONDS);
    }
};
