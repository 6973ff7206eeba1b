import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readFlags } from '../read-flags.ts';
import { drawDashboard } from './dashboards/draw-dashboard.ts';
import { readDashboards } from './dashboards/read-dashboards.ts';
import { recordTerminal } from './terminal/record-terminal.ts';
import { RECORDING, terminalPicture } from './terminal/terminal-picture.ts';
import { timelinePicture } from './timeline/timeline-picture.ts';

const USAGE = `npm run pictures -- [options]

Draws the pictures of the documentation that show what the code makes. Run npm run synth before it.

  --assembly DIR    the folder of the synthesized app (default: cdk.out)
  --record          first record the terminal again, with a local run on its default ports
  --console         also take the pictures of the console, with a local run in memory and a Chromium
  --help
`;
const root = path.join(import.meta.dirname, '../../..');
// A program of its own, because nothing in infra/tools imports the local run.
const CONSOLE = path.join(root, 'infra/local/console-pictures/main.ts');
const {
  assembly,
  record,
  console: isOfConsole,
} = readFlags(USAGE, {
  assembly: { type: 'string', default: path.join(root, 'cdk.out') },
  record: { type: 'boolean', default: false },
  console: { type: 'boolean', default: false },
});
const draw = (name: string, svg: string): void => writeFileSync(path.join(root, 'docs/images', `${name}.svg`), svg);
if (record) writeFileSync(RECORDING, `[\n${(await recordTerminal()).map((piece) => `  ${JSON.stringify(piece)}`).join(',\n')}\n]\n`);
draw('terminal', terminalPicture());
draw('timeline', timelinePicture());
for (const dashboard of readDashboards(path.join(assembly, 'sluice-operations.template.json')))
  draw(`dashboard-${dashboard.name}`, drawDashboard(dashboard));
if (isOfConsole) execFileSync(process.execPath, [CONSOLE], { stdio: 'inherit' });
