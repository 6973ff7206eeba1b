import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';

/** A resource of a template with unresolved intrinsics. */
export interface Resource {
  type: string;
  properties: Readonly<Record<string, unknown>>;
  metadata?: Readonly<Record<string, unknown>> | undefined;
  /** CloudFormation's policy for it when its stack is deleted; default: Delete. */
  deletionPolicy?: string | undefined;
}

/** A stack of a cloud assembly. `assets` maps the hash of a file asset to its absolute path. */
export interface Stack {
  name: string;
  /** True if CloudFormation refuses to delete it. */
  isProtected: boolean;
  resources: ReadonlyMap<string, Resource>;
  parameters: ReadonlyMap<string, unknown>;
  exports: ReadonlyMap<string, unknown>;
  outputs: ReadonlyMap<string, unknown>;
  assets: ReadonlyMap<string, string>;
}

const Manifest = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      displayName: z.string().optional(),
      properties: z
        .object({
          templateFile: z.string().optional(),
          stackName: z.string().optional(),
          terminationProtection: z.boolean().default(false),
        })
        .optional(),
    }),
  ),
});

const Template = z.object({
  Resources: z
    .record(
      z.string(),
      z.object({
        Type: z.string(),
        Properties: z.record(z.string(), z.unknown()).default({}),
        Metadata: z.record(z.string(), z.unknown()).optional(),
        DeletionPolicy: z.string().optional(),
      }),
    )
    .default({}),
  Parameters: z.record(z.string(), z.object({ Default: z.unknown() })).default({}),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown(), Export: z.object({ Name: z.string() }).optional() })).default({}),
});

const AssetManifest = z.object({
  files: z.record(z.string(), z.object({ source: z.object({ path: z.string().optional() }) })).default({}),
});

/**
 * Reads a CDK cloud assembly.
 * @param folder the `cdk.out` folder, with `manifest.json` in it
 * @returns its stacks in the order of the manifest
 * @throws Error naming a file that cannot be read, ZodError if a file has another shape
 */
export const readAssembly = async (folder: string): Promise<Stack[]> => {
  const root = path.resolve(folder);
  const manifest = Manifest.parse(await readJson(path.join(root, 'manifest.json')));
  const stacks: Stack[] = [];
  for (const [id, artifact] of Object.entries(manifest.artifacts)) {
    if (artifact.type !== 'aws:cloudformation:stack') continue;
    const templateFile = artifact.properties?.templateFile ?? `${id}.template.json`;
    const template = Template.parse(await readJson(path.join(root, templateFile)));
    const assets = AssetManifest.parse(await readJson(path.join(root, `${id}.assets.json`)));
    const { stackName, terminationProtection: isProtected = false } = artifact.properties ?? {};
    stacks.push({ ...toStack(stackName ?? artifact.displayName ?? id, template, assets, root), isProtected });
  }
  return stacks;
};

const toStack = (
  name: string,
  template: z.infer<typeof Template>,
  assets: z.infer<typeof AssetManifest>,
  root: string,
): Omit<Stack, 'isProtected'> => {
  const outputs = Object.entries(template.Outputs);
  return {
    name,
    resources: new Map(
      Object.entries(template.Resources).map(([id, { Type, Properties, Metadata, DeletionPolicy }]) => [
        id,
        { type: Type, properties: Properties, metadata: Metadata, deletionPolicy: DeletionPolicy },
      ]),
    ),
    parameters: new Map(Object.entries(template.Parameters).map(([id, { Default }]) => [id, Default])),
    outputs: new Map(outputs.map(([id, { Value }]) => [id, Value])),
    exports: new Map(outputs.flatMap(([, { Value, Export }]) => (Export ? [[Export.Name, Value] as const] : []))),
    assets: new Map(
      Object.entries(assets.files).flatMap(([hash, { source }]) =>
        source.path === undefined ? [] : [[hash, path.join(root, source.path)] as const],
      ),
    ),
  };
};

const readJson = async (file: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new Error(`${file} is not a readable file of a CDK cloud assembly`, { cause });
  }
};
