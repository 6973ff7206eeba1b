import { rm } from 'node:fs/promises';

/** After all tests. */
export default async () => {
  await rm(process.env.SLUICE_TEST_ASSEMBLY, { recursive: true, force: true });
};
