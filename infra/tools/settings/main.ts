import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { editorSchema } from './editor-schema.ts';
import { settingsPage } from './settings-page.ts';

/* `npm run settings`: writes docs/settings.md, and the JSON Schema that editors check cdk.json with. */
const docs = path.join(import.meta.dirname, '../../../docs');
writeFileSync(path.join(docs, 'settings.md'), settingsPage());
writeFileSync(path.join(docs, 'settings.schema.json'), `${JSON.stringify(editorSchema(), undefined, 2)}\n`);
