import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readFlags } from '../read-flags.ts';
import { editorSchema } from './editor-schema.ts';
import { settingsPage } from './settings-page.ts';

const USAGE = `npm run settings -- [options]

Writes docs/settings.md, and the JSON Schema with which editors check cdk.json.

  --help
`;
readFlags(USAGE, {});
const docs = path.join(import.meta.dirname, '../../../docs');
writeFileSync(path.join(docs, 'settings.md'), settingsPage());
writeFileSync(path.join(docs, 'settings.schema.json'), `${JSON.stringify(editorSchema(), undefined, 2)}\n`);
