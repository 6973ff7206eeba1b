import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import { type BuildOptions, buildSync } from 'esbuild';
import { keepBundle } from './keep-bundle.ts';
import { mergeStart } from './merge-start.ts';

const root = path.join(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);

interface BundleOptions {
  /** The file that exports the handler. */
  entry: string;
  /** Runs after the bundle was written: a program of ours and its arguments, with the bundle's folder as the first. */
  afterwards?: { program: string; flags: readonly string[] } | undefined;
  /** Files of packages that the function reads: their places in the bundle's folder, and in `node_modules`. */
  files?: Readonly<Record<string, string>> | undefined;
}

/**
 * The code of a function: `index.mjs`, with the modules that it needs from the start, and further files that are
 * loaded when a dynamic import first needs them. The bundle contains all packages, the AWS SDK too: Lambda's own copy
 * can change.
 */
export const bundle = ({ entry, afterwards, files = {} }: BundleOptions): AssetCode =>
  Code.fromAsset(path.dirname(entry), {
    // The hash of the result, so that a function changes when its code does.
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Not used, because the bundle is always made locally.
      image: DockerImage.fromRegistry('scratch'),
      // CDK bundles folders with equal options once, and does not see what the functions below do.
      command: [...(afterwards?.flags ?? []), ...Object.keys(files)],
      local: {
        tryBundle: (folder) => {
          keepBundle({ entry, afterwards, files }, folder, () => {
            writeBundle(entry, folder);
            copyFiles(files, folder);
            if (afterwards) execFileSync(process.execPath, [afterwards.program, folder, ...afterwards.flags], { stdio: 'inherit' });
          });
          return true;
        },
      },
    },
  });

const copyFiles = (files: Readonly<Record<string, string>>, folder: string): void => {
  for (const [place, source] of Object.entries(files)) {
    const target = path.join(folder, place);
    mkdirSync(path.dirname(target), { recursive: true });
    copyFileSync(require.resolve(source), target);
  }
};

// Bundles get these modules of Node by a function call. An import reads all exports of a module, and so loads what Node
// would load later: 34 ms more for node:http, 8 for node:crypto, 3 for node:util.
const BUILTINS = ['crypto', 'http', 'https', 'stream', 'util', 'zlib'];
const builtins = Object.fromEntries(
  BUILTINS.flatMap((name) => [name, `node:${name}`].map((module) => [module, path.join(import.meta.dirname, 'builtins', `${name}.cjs`)])),
);

const ENTRY = 'index';

const writeBundle = (entry: string, folder: string): void => {
  const options = {
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    mainFields: ['module', 'main'],
    // Some CommonJS packages call require().
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    logLevel: 'warning',
  } satisfies BuildOptions;
  const alias = { ...builtins, '@aws-sdk/credential-provider-node': path.join(import.meta.dirname, 'environment-credentials.mjs') };
  const outExtension = { '.js': '.mjs' };
  const { metafile } = buildSync({
    ...options,
    alias,
    entryPoints: { [ENTRY]: entry },
    outdir: folder,
    outExtension,
    splitting: true,
    metafile: true,
  });
  mergeStart(folder, `./${ENTRY}.mjs`, metafile, options);
};
