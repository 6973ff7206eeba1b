import { rm } from 'node:fs/promises';

/** Runs after all tests: removes the cloud assembly. */
export default async () => {
  await rm(process.env.SLUICE_TEST_ASSEMBLY, { recursive: true, force: true });
};
