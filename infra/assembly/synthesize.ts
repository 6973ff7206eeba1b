import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { KEPT_BUNDLES } from '../bundling/keep-bundle.ts';

// The app is ended after so long without output and without a new file in the output folder.
const STALL_MS = 300_000;
const MAX_ERROR_OUTPUT_CHARS = 20_000;

/** The variable that is `false` if the CDK must not check the templates, which takes most of a synthesis. */
export const VALIDATION = 'CDK_VALIDATION';

const CdkJson = z.object({ app: z.string(), context: z.record(z.string(), z.unknown()).default({}) });

/** How the CDK app runs. */
export interface Settings {
  /** How long the app can go without writing anything. */
  stallMs?: number;
  /** Its environment variables. Default: those of this process. */
  environment?: NodeJS.ProcessEnv;
  /** Context besides that of cdk.json, which it overrides. */
  context?: Readonly<Record<string, unknown>>;
  /**
   * A folder for the bundles of these sources, from which another synthesis takes them. Default: bundles are not
   * kept.
   */
  bundles?: string;
}

const readCdkJson = async (projectRoot: string) => CdkJson.parse(JSON.parse(await readFile(path.join(projectRoot, 'cdk.json'), 'utf8')));

/** The context of cdk.json. @param projectRoot its folder */
export const readContext = async (projectRoot: string): Promise<Readonly<Record<string, unknown>>> =>
  (await readCdkJson(projectRoot)).context;

/**
 * Synthesizes the CDK app as `cdk synth` does, with the program and context (feature flags) of cdk.json.
 * @param projectRoot the folder of cdk.json
 * @param outputFolder where the cloud assembly is written
 * @throws Error with the app's error output if it fails or no longer makes progress
 */
export const synthesize = async (projectRoot: string, outputFolder: string, settings: Settings = {}): Promise<void> => {
  const { stallMs = STALL_MS, environment = process.env, context: more = {}, bundles } = settings;
  const { app, context } = await readCdkJson(projectRoot);
  const [program, ...parameters] = app.split(' ');
  if (program !== 'node') throw new Error(`The app in cdk.json must be 'node <file>', not '${app}'`);
  await mkdir(outputFolder, { recursive: true });
  const child = spawn(process.execPath, parameters, {
    cwd: projectRoot,
    env: {
      ...environment,
      CDK_OUTDIR: path.resolve(outputFolder),
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...more }),
      ...(bundles !== undefined && { [KEPT_BUNDLES]: bundles }),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stall = setTimeout(() => child.kill('SIGKILL'), stallMs);
  const watcher = watch(outputFolder, () => stall.refresh());
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stall.refresh();
    errors = (errors + text).slice(-MAX_ERROR_OUTPUT_CHARS);
  });
  try {
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${child.killed ? stalled(stallMs) : 'The CDK app failed to synthesize:'}\n${errors}`);
  } finally {
    clearTimeout(stall);
    watcher.close();
  }
};

const stalled = (stallMs: number): string =>
  `The CDK app wrote nothing for ${stallMs / 1_000} s and was stopped. Run 'npm run synth' to see where it hangs.`;
