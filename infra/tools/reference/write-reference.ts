import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { controlDocument } from './control-document.ts';
import { controlOperations } from './control-operations.ts';
import { openApiDocument } from './inference-document.ts';
import { START, START_WITH_MODELS } from './start-viewer.ts';

// Writes the OpenAPI document, its page and the page's viewer (Swagger UI), compressed, into `reference/` in a bundle,
// so that the function that serves them (shared/static-files/reference.ts) converts no schemas at a cold start.
// Arguments: the folder, and `--host NAME`.
const {
  values: { host },
  positionals: [bundleFolder = ''],
} = parseArgs({
  allowPositionals: true,
  options: { host: { type: 'string', default: '' } },
});
const references: Readonly<Record<string, () => { title: string; document: unknown }>> = {
  serverless: () => ({ title: 'Sluice API reference', document: openApiDocument('serverless') }),
  on_demand: () => ({ title: 'Sluice on-demand API reference', document: openApiDocument('on_demand') }),
  control: () => ({ title: 'Sluice control plane API reference', document: controlDocument(controlOperations) }),
};
const reference = references[host];
if (!reference) throw new Error(`--host must be one of ${Object.keys(references).join(', ')}, not '${host}'.`);
const { title, document } = reference();
const folder = path.join(bundleFolder, 'reference');
const viewer = path.join(import.meta.dirname, '../../../node_modules/swagger-ui-dist');

const LICENCE = '/*! Swagger UI, Copyright 2020-2021 SmartBear Software Inc., https://www.apache.org/licenses/LICENSE-2.0 */\n';

const write = (name: string, content: string | Buffer): string => {
  writeFileSync(path.join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  return name;
};

const HASH_CHARACTERS = 12;

// A name that changes with the content lets browsers cache the file forever.
const writeHashed = (extension: 'js' | 'css', content: string): string =>
  write(`viewer.${createHash('sha256').update(content).digest('hex').slice(0, HASH_CHARACTERS)}.${extension}`, content);

// The source map is not deployed, so the comment that refers to it goes.
const read = (name: string): string => readFileSync(path.join(viewer, name), 'utf8').replace(/^(?:\/\/|\/\*)# sourceMappingURL=.*$/gm, '');

mkdirSync(folder, { recursive: true });
const script = writeHashed('js', LICENCE + read('swagger-ui-bundle.js') + (host === 'control' ? START : START_WITH_MODELS));
const style = writeHashed('css', LICENCE + read('swagger-ui.css'));
write('openapi.json', JSON.stringify(document));
write(
  'docs.html',
  `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/${style}">
  </head>
  <body>
    <noscript>This page needs JavaScript. The reference is also available as JSON: <a href="openapi.json">openapi.json</a>.</noscript>
    <div id="reference"></div>
    <script src="docs/${script}"></script>
  </body>
</html>
`,
);
