import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { homonyms } from './homonyms.ts';
import { DOCUMENT, departures, folderDiagram, readDocument, readModules, withDiagram } from './plan.ts';
import { unclearSentences } from './sentences.ts';

// Part of `npm run lint`. `--write` also redraws the diagram of docs/architecture.md; `--root` checks another project.
const PROJECT = path.join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: { write: { type: 'boolean', default: false }, root: { type: 'string', default: PROJECT } },
});
const result = await readModules(values.root);
const document = readDocument(values.root);
const drawn = withDiagram(document, folderDiagram(result));
if (values.write) writeFileSync(path.join(values.root, DOCUMENT), drawn);
const outdated =
  drawn === document || values.write ? [] : [{ rule: 'diagram', message: `${DOCUMENT} shows other imports. Run npm run format.` }];
const files = result.modules.map(({ source }) => source);
const found = [
  ...departures(result),
  ...(values.root === PROJECT ? [...homonyms(PROJECT, files), ...unclearSentences(PROJECT, files)] : []),
  ...outdated,
];
for (const { rule, message } of found) console.error(`${rule}: ${message}`);
console.log(`${result.summary.totalCruised} modules, ${found.length} departures from the plan of ${DOCUMENT}.`);
if (found.length > 0) process.exitCode = 1;
