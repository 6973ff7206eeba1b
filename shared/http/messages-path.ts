/** The route of Anthropic's Messages API. */
export const MESSAGES_PATH = '/v1/messages';
/** The route that counts the input tokens of such a request. */
export const COUNT_TOKENS_PATH = `${MESSAGES_PATH}/count_tokens`;

const MESSAGES_PATHS = /^(?:\/v1)*\/messages(?:\/count_tokens)?\/*$/;

/**
 * True for the routes of the Messages API, whose clients expect errors in its shape; also for those with a wrong base
 * URL. False for paths that only end like them, such as `/v1/tickets/{id}/messages`.
 */
export const isMessagesPath = (path: string): boolean => MESSAGES_PATHS.test(path);
