/** The folders whose comments and test titles are checked. */
export const READ_ROOMS: readonly string[] = ['test/architecture'];
