/** The folder of the cloud assembly that was made before all tests. */
export const assemblyDir = (): string => {
  const folder = process.env.SLUICE_TEST_ASSEMBLY;
  if (!folder) throw new Error('There is no cloud assembly: test/support/synthesize.mjs has not run.');
  return folder;
};
