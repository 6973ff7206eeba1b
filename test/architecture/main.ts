import path from 'node:path';
import { parseArgs } from 'node:util';
import { checkPlan } from './check-plan.ts';
import { homonyms } from './homonyms.ts';
import { DOCUMENT } from './plan.ts';
import { unclearSentences } from './sentences.ts';

// Part of `npm run lint`. `--write` also redraws the diagram of docs/architecture.md; `--root` checks another project.
const PROJECT = path.join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: { write: { type: 'boolean', default: false }, root: { type: 'string', default: PROJECT } },
});
const { files, departures } = await checkPlan(values.root, values.write);
const found = [...departures, ...(values.root === PROJECT ? [...homonyms(PROJECT, files), ...unclearSentences(PROJECT, files)] : [])];
for (const { rule, message } of found) console.error(`${rule}: ${message}`);
console.log(`${files.length} modules, ${found.length} departures from the plan of ${DOCUMENT}.`);
if (found.length > 0) process.exitCode = 1;
