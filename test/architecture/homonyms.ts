import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Departure } from './plan.ts';

const EXPORTED = /^export (?:abstract )?(?:interface|type|class|const|enum) ([A-Z][a-z]\w*)/gm;

// The list only shrinks: give new things names of their own.
const KNOWN_HOMONYMS: readonly string[] = ['ToolChoice', 'Tools'];

/**
 * Names in PascalCase that several files of functions/ and shared/ export, and names of the list that no two files
 * export any more.
 */
export const homonyms = (root: string, files: readonly string[], known: readonly string[] = KNOWN_HOMONYMS): Departure[] => {
  const exporters = new Map<string, Set<string>>();
  for (const file of files.filter((name) => /^(?:functions|shared)\//.test(name))) {
    for (const [, name = ''] of readFileSync(path.join(root, file), 'utf8').matchAll(EXPORTED))
      exporters.set(name, (exporters.get(name) ?? new Set()).add(file));
  }
  const repeated = [...exporters].filter(([, places]) => places.size > 1);
  const unknown = repeated.filter(([name]) => !known.includes(name));
  const gone = known.filter((name) => !repeated.some(([other]) => other === name));
  return [
    ...unknown.map(([name, places]) => ({
      rule: 'names-are-unique',
      message: `${[...places].toSorted().join(' and ')} export ${name}: rename the narrower one.`,
    })),
    ...gone.map((name) => ({
      rule: 'names-are-unique',
      message: `Only one file exports ${name} now: remove it from test/architecture/homonyms.ts.`,
    })),
  ];
};
