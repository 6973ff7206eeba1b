import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildConsole } from './build-console.ts';

// Writes the console's page and assets, compressed, into `console/` in a bundle. Argument: the bundle's folder.
const [, , bundleFolder = ''] = process.argv;
const folder = path.join(bundleFolder, 'console');

const write = (name: string, content: string | Uint8Array): void =>
  writeFileSync(path.join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));

mkdirSync(folder, { recursive: true });
const { assets, entry, style } = await buildConsole();
for (const { name, content } of assets) write(name, content);
const page = readFileSync(path.join(import.meta.dirname, '../../../console/index.html'), 'utf8');
write('index.html', page.replace('ENTRY_SCRIPT', `assets/${entry}`).replace('ENTRY_STYLE', `assets/${style}`));
