import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cruise, type ICruiseResult, type IModule } from 'dependency-cruiser';
import { readOptions, rules } from './rules.ts';

const FOLDERS = ['functions', 'shared', 'infra', 'console', 'test'];

/** A place where the code breaks a rule: which rule, where, and what to do. */
export interface Departure {
  rule: string;
  message: string;
}

/** Every module under a root folder with what it imports, types included. */
export const readModules = async (root: string): Promise<ICruiseResult> => {
  const folders = FOLDERS.filter((folder) => existsSync(path.join(root, folder)));
  const { output } = await cruise(folders, { ...readOptions, baseDir: root, validate: true, ruleSet: { forbidden: rules } });
  return output as ICruiseResult;
};

const ownImports = ({ dependencies }: IModule): string[] =>
  dependencies.map(({ resolved }) => resolved).filter((file) => /^(?:functions|shared|infra)\//.test(file));

const reachedFrom = (modules: ReadonlyMap<string, IModule>, from: readonly string[], isOpen: (file: string) => boolean): Set<string> => {
  const reached = new Set<string>();
  const open = [...from];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const module = modules.get(file);
    if (!module || reached.has(file)) continue;
    reached.add(file);
    open.push(...ownImports(module).filter(isOpen));
  }
  return reached;
};

const ADMIN = 'infra/tools/admin';

// One function may be the only user of a middleware, or of one of both clients of a service: docs/decisions/0067.
const TOGETHER = [/^shared\/middleware\//, /^shared\/(?:aws|upstream)\/(?:sdk-)?invoke(?:-function)?\.ts$/];

// The admin CLI counts as a function, as far as it uses shared/ by itself and not through a function's folder. The
// reference, which is written when the app is built, does not.
const singleUses = (all: readonly IModule[]): Departure[] => {
  const modules = new Map(all.map((module) => [module.source, module]));
  const users = new Map<string, string[]>();
  const folders = new Set(all.flatMap(({ source }) => /^functions\/[^/]+(?=\/)/.exec(source) ?? []));
  for (const folder of [...folders, ADMIN]) {
    const files = all.map(({ source }) => source).filter((file) => file.startsWith(`${folder}/`));
    const isOpen = (file: string): boolean => file.startsWith(`${folder}/`) || file.startsWith('shared/');
    for (const file of reachedFrom(modules, files, isOpen)) users.set(file, [...(users.get(file) ?? []), folder]);
  }
  return all.flatMap(({ source }) => {
    const [only, second] = users.get(source) ?? [];
    if (!source.startsWith('shared/') || second !== undefined || TOGETHER.some((kept) => kept.test(source))) return [];
    const message = only
      ? `${source} is used by ${only} alone: move it to ${only}/.`
      : `${source} is used by no function: move it to the file that imports it.`;
    return [{ rule: 'shared-is-for-two', message }];
  });
};

const MAX_FILES_OF_FOLDER = 25;

const crowdedFolders = (all: readonly IModule[]): Departure[] => {
  const counts = new Map<string, number>();
  for (const { source } of all) {
    const folder = path.posix.dirname(source);
    if (/^(?:functions|shared|infra|console|test)\//.test(source)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].flatMap(([folder, count]) =>
    count > MAX_FILES_OF_FOLDER
      ? [
          {
            rule: 'folders-are-small',
            message: `${folder} has ${count} files, at most ${MAX_FILES_OF_FOLDER} are expected: move some to a folder.`,
          },
        ]
      : [],
  );
};

/** Where a code base departs from the plan of rules.ts. */
export const departures = ({ modules, summary }: ICruiseResult): Departure[] => [
  ...summary.violations.map(({ rule, from, to, cycle, comment }) => {
    const route = cycle ? [from, ...cycle.map(({ name }) => name)] : [from, to];
    return { rule: rule.name, message: `${route.join(' → ')}${comment ? ` (${comment})` : ''}` };
  }),
  ...singleUses(modules),
  ...crowdedFolders(modules),
];

const boxOf = (file: string): string | undefined => /^(?:functions|shared|infra)\/[^/]+(?=\/)/.exec(file)?.[0];

/**
 * The imports between functions, folders of shared/ and parts of infra/ as a mermaid diagram. Arrows that follow from
 * others are left out.
 */
export const folderDiagram = ({ modules }: ICruiseResult): string => {
  const edges = new Map<string, Set<string>>();
  for (const module of modules) {
    const from = boxOf(module.source);
    if (from === undefined) continue;
    const targets = edges.get(from) ?? new Set();
    edges.set(from, targets);
    for (const file of ownImports(module)) {
      const to = boxOf(file);
      if (to !== undefined && to !== from) targets.add(to);
    }
  }
  const reach = (from: string, reached = new Set<string>()): Set<string> => {
    for (const to of edges.get(from) ?? []) if (!reached.has(to)) reach(to, reached.add(to));
    return reached;
  };
  const parts = [...edges.keys()].toSorted();
  const lines = ['flowchart TD'];
  for (const area of ['infra', 'functions', 'shared']) {
    lines.push(`  subgraph ${area}`);
    for (const part of parts) if (part.startsWith(`${area}/`)) lines.push(`    ${part}["${part.slice(area.length + 1)}"]`);
    lines.push('  end');
  }
  for (const from of parts) {
    const direct = [...(edges.get(from) ?? [])].toSorted();
    for (const to of direct) if (!direct.some((other) => other !== to && reach(other).has(to))) lines.push(`  ${from}-->${to}`);
  }
  return lines.join('\n');
};

const START = '<!-- folders: written by `npm run format` -->\n```mermaid\n';
const END = '\n```\n<!-- /folders -->';

/** The text of docs/architecture.md with this diagram. @throws Error where the document has no place for it */
export const withDiagram = (document: string, diagram: string): string => {
  const start = document.indexOf(START);
  const end = document.indexOf(END);
  if (start < 0 || end < start) throw new Error('docs/architecture.md has no place for the diagram of folders.');
  return document.slice(0, start + START.length) + diagram + document.slice(end);
};

export const DOCUMENT = 'docs/architecture.md';
export const readDocument = (root: string): string => readFileSync(path.join(root, DOCUMENT), 'utf8');
