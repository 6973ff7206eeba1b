import { rm } from 'node:fs/promises';

/** Runs after all tests: removes the recorded permissions, unless the caller named a folder for them. */
export default async () => {
  const { SLUICE_TEST_PERMISSIONS, RECORD_PERMISSIONS } = process.env;
  if (RECORD_PERMISSIONS === undefined) await rm(SLUICE_TEST_PERMISSIONS, { recursive: true, force: true });
};
