import { rm } from 'node:fs/promises';

/** Runs after all tests: removes the cloud assembly and the recorded permissions, unless the caller named a folder for them. */
export default async () => {
  const { SLUICE_TEST_ASSEMBLY, SLUICE_TEST_PERMISSIONS, RECORD_PERMISSIONS } = process.env;
  const temporary = RECORD_PERMISSIONS === undefined ? [SLUICE_TEST_ASSEMBLY, SLUICE_TEST_PERMISSIONS] : [SLUICE_TEST_ASSEMBLY];
  for (const folder of temporary) await rm(folder, { recursive: true, force: true });
};
