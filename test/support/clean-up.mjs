import { rm } from 'node:fs/promises';

/** Runs after all tests: removes the cloud assembly and the recorded permissions. */
export default async () => {
  for (const folder of [process.env.SLUICE_TEST_ASSEMBLY, process.env.SLUICE_TEST_PERMISSIONS])
    await rm(folder, { recursive: true, force: true });
};
