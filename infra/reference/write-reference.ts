import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { ControlOperation } from '../../shared/hosts/control-operation.ts';
import { controlDocument } from './control-document.ts';
import { openApiDocument } from './document.ts';

/*
 * Writes the API reference into the folder of a bundle, as `reference/`: the OpenAPI document, the page that shows it, and the page's viewer
 * (Swagger UI), each compressed. The function that serves them (shared/http/reference.ts) has no schema to turn into JSON at a cold start.
 * Arguments: the folder, `--host on_demand` for the reference of that host, and `--structured-outputs` where the deployer has switched them on;
 * or, for the reference of the control plane, `--operations` with the path of a module that exports its `controlRoutes`.
 */
const {
  values: { operations, host, 'structured-outputs': structuredOutputs },
  positionals: [bundleFolder = ''],
} = parseArgs({
  allowPositionals: true,
  options: {
    operations: { type: 'string' },
    host: { type: 'string', default: 'serverless' },
    'structured-outputs': { type: 'boolean', default: false },
  },
});
const folder = path.join(bundleFolder, 'reference');
const viewer = path.join(import.meta.dirname, '../../node_modules/swagger-ui-dist');

/** Found at run time: infra/ is not built on what functions/ has. */
const controlReference = async (modulePath: string) => {
  const { controlRoutes } = (await import(pathToFileURL(path.resolve(modulePath)).href)) as { controlRoutes: readonly ControlOperation[] };
  return { title: 'Sluice control plane API reference', document: controlDocument(controlRoutes) };
};

const hostReference = () => {
  if (host !== 'serverless' && host !== 'on_demand') throw new Error(`--host is 'serverless' or 'on_demand', and not '${host}'.`);
  const title = host === 'on_demand' ? 'Sluice on-demand API reference' : 'Sluice API reference';
  return { title, document: openApiDocument({ structuredOutputs, host }) };
};

const { title, document } = operations ? await controlReference(operations) : hostReference();

const LICENCE = '/*! Swagger UI, Copyright 2020-2021 SmartBear Software Inc., https://www.apache.org/licenses/LICENSE-2.0 */\n';

/** Tells the viewer what to show, where the page is complete. */
const START = `
SwaggerUIBundle({ url: 'openapi.json', dom_id: '#reference', deepLinking: true, defaultModelsExpandDepth: 0, tryItOutEnabled: true, displayRequestDuration: true });
`;

const write = (name: string, content: string | Buffer): string => {
  writeFileSync(path.join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  return name;
};

const HASH_CHARACTERS = 12;

/** Under a name that changes with the content, so that it may be kept for ever. */
const writeHashed = (extension: 'js' | 'css', content: string): string =>
  write(`viewer.${createHash('sha256').update(content).digest('hex').slice(0, HASH_CHARACTERS)}.${extension}`, content);

/** A line that names a source map would make browsers ask for one that is not here. */
const read = (name: string): string => readFileSync(path.join(viewer, name), 'utf8').replace(/^(?:\/\/|\/\*)# sourceMappingURL=.*$/gm, '');

mkdirSync(folder, { recursive: true });
const script = writeHashed('js', LICENCE + read('swagger-ui-bundle.js') + START);
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
    <noscript>This page needs JavaScript. The same in JSON: <a href="openapi.json">openapi.json</a>.</noscript>
    <div id="reference"></div>
    <script src="docs/${script}"></script>
  </body>
</html>
`,
);
