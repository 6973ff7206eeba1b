import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { drawDashboard } from './dashboards/draw-dashboard.ts';
import { readDashboards } from './dashboards/read-dashboards.ts';
import { timelinePicture } from './timeline/timeline-picture.ts';

/*
 * `npm run synth && npm run pictures`: draws the pictures of the documentation that show what the code makes: the
 * synthesized dashboards and a request's timeline. `--assembly`: the folder of the cloud assembly, by default
 * cdk.out.
 */
const root = path.join(import.meta.dirname, '../../..');
const { values } = parseArgs({ options: { assembly: { type: 'string', default: path.join(root, 'cdk.out') } } });
const draw = (name: string, svg: string): void => writeFileSync(path.join(root, 'docs/images', `${name}.svg`), svg);
for (const dashboard of readDashboards(path.join(values.assembly, 'sluice-operations.template.json')))
  draw(`dashboard-${dashboard.name}`, drawDashboard(dashboard));
draw('timeline', timelinePicture());
