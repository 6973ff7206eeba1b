import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { Demo } from './demo-file.ts';

const FILE = 'local.json';

/** Contents of `local.json` in the state folder, which scripts read. */
export const LocalFacts = z.object({
  base_url: z.string(),
  ondemand_url: z.string().nullable(),
  control_url: z.string().nullable(),
  ...Demo.shape,
  dynamodb_endpoint: z.string(),
  sagemaker_url: z.string(),
  container_url: z.string(),
  s3_endpoint: z.string(),
  lambda_endpoint: z.string(),
  sqs_endpoint: z.string(),
  panel_url: z.string(),
  cognito_endpoint: z.string().nullable(),
  user_pools: z.record(z.string(), z.object({ id: z.string(), client_id: z.string() })),
  tables: z.record(z.string(), z.string()),
  buckets: z.record(z.string(), z.string()),
  pids: z.object({
    runner: z.int(),
    dynamodb: z.int().nullable(),
    container: z.int().nullable(),
    cognito: z.int().nullable(),
    functions: z.record(z.string(), z.array(z.int())),
  }),
});
export type LocalFacts = z.infer<typeof LocalFacts>;

/** Returns the facts of the last run in a state folder, or undefined if the file is missing or invalid. */
export const readFacts = async (stateDir: string): Promise<LocalFacts | undefined> => {
  try {
    return LocalFacts.parse(JSON.parse(await readFile(path.join(stateDir, FILE), 'utf8')));
  } catch {
    return undefined;
  }
};

/** Replaces the file atomically, so that readers never see a partial one. */
export const writeFacts = async (stateDir: string, facts: LocalFacts): Promise<void> => {
  const file = path.join(stateDir, FILE);
  // Two writes of one process can overlap.
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(facts, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
};
