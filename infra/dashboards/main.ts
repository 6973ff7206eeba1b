import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { drawDashboard } from './draw-dashboard.ts';
import { readDashboards } from './read-dashboards.ts';

/*
 * `npm run synth && npm run pictures`: draws the synthesized dashboards for the documentation.
 * `--assembly`: the folder of the cloud assembly, by default cdk.out.
 */
const root = path.join(import.meta.dirname, '../..');
const { values } = parseArgs({ options: { assembly: { type: 'string', default: path.join(root, 'cdk.out') } } });
for (const dashboard of readDashboards(path.join(values.assembly, 'sluice-operations.template.json')))
  writeFileSync(path.join(root, 'docs/images', `dashboard-${dashboard.name}.svg`), drawDashboard(dashboard));
