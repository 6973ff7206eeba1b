/** The folders whose comments and test titles are checked. */
export const READ_ROOMS: readonly string[] = ['functions/inference', 'test/architecture', 'test/e2e/inference', 'test/functions/inference'];
