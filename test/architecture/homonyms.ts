import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Departure } from './plan.ts';

const EXPORTED = /^export (?:abstract )?(?:interface|type|class|const|enum) ([A-Z][a-z]\w*)/gm;

/** Names in PascalCase that several files of functions/ and shared/ export. */
export const homonyms = (root: string, files: readonly string[]): Departure[] => {
  const exporters = new Map<string, Set<string>>();
  for (const file of files.filter((name) => /^(?:functions|shared)\//.test(name))) {
    for (const [, name = ''] of readFileSync(path.join(root, file), 'utf8').matchAll(EXPORTED))
      exporters.set(name, (exporters.get(name) ?? new Set()).add(file));
  }
  return [...exporters].flatMap(([name, places]) =>
    places.size > 1
      ? [{ rule: 'names-are-unique', message: `${[...places].toSorted().join(' and ')} export ${name}: rename the narrower one.` }]
      : [],
  );
};
