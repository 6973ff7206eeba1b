import { matrixOf, readSections } from './matrix.ts';
import type { Cell } from './measure.ts';
import { timeClassOf } from './time-class.ts';

const HEAD = `# What a fault does to a request (generated)

Each row is a fault, and leads to its details. **200** stands for 201, too. **200, error**: the error came at the end of a stream. **cut**: the connection broke.
**full**: charged as without the fault. **part**: charged for what was sent. **free**: charged nothing. A status alone: the request was not admitted, or its route
is free. **-**: the fault doesn't concern this host.

`;

const DETAILS = `
This page is written by the test \`test/e2e/failures/fault-table.test.ts\`, which causes each fault in a local run of the deployed bundles and sends every
kind of request during it, each with a key of its own: to the serverless host, to the on-demand host, and to the control plane if the fault concerns it.
\`UPDATE_FAULTS=1 npm test -- fault-table\` writes it again.

In the details:

- **Reply**: the status, and the code of the error in the body or at the end of the stream. \`cut\`: the connection broke.
- **Time** until the end of the reply: \`at once\` is less than 2.2 s.
- **Retry-After**: in seconds.
- **Outcome** and **charge**: of the usage event, in nano-dollars. \`-\`: the request was not admitted, or its route has no events.
  \`created\`: the API key exists afterwards.
- **Released**: \`settled\` if the request or the queue of settlements released its reservation, \`swept\` if the sweep had to.

In each row, the body is that of the interface and says nothing internal, each admitted request has exactly one event, the events' sum is what the limiter
has counted, nothing is in flight after the sweep, and the same request succeeds with the same key once the fault has ended. The rules for charges are in
[decision 0007](decisions/0007-charges-for-failed-requests.md).
`;

const replyOf = ({ reply }: Cell): string => [reply.status, reply.code && `\`${reply.code}\``].filter(Boolean).join(' ');

const outcomeOf = ({ route, events, createdKeys }: Cell): string =>
  route.createsKey && createdKeys > 0 ? 'created' : events.map(({ outcome }) => outcome).join(', ') || '-';

const COLUMNS = ['Request', 'Mode', 'Reply', 'Time', 'Retry-After', 'Outcome', 'Charge', 'Released'];

const fieldsOf = (cell: Cell): string[] => {
  const { fault, route, reply, events, isReleased } = cell;
  const host = route.host === 'serverless' ? '' : ` (${route.host})`;
  return [
    `${route.name}${host}`,
    route.stream ? 'stream' : 'whole',
    replyOf(cell),
    timeClassOf(reply.isComplete ? reply.elapsedMs : Math.max(reply.elapsedMs, fault.failsWithinMs ?? 0)),
    reply.retryAfter ?? '-',
    outcomeOf(cell),
    events.length === 0 ? '-' : String(cell.spent),
    events.length === 0 ? '-' : isReleased ? 'settled' : 'swept',
  ];
};

// Columns are of equal width, as the formatter wants them.
const tableOf = (cells: readonly Cell[]): string => {
  const rows = [COLUMNS, ...cells.map(fieldsOf)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
};

/** The row of a cell, without the padding of its table. */
export const rowOf = (cell: Cell): string => fieldsOf(cell).join(' | ');

/** The section of a fault. */
export const renderFault = (cells: readonly Cell[]): string => `## ${cells[0]?.fault.name}\n\n${tableOf(cells)}\n`;

/** The document with these sections, which opens with their matrix. @param sections texts that `renderFault` wrote */
export const renderDocument = (sections: string): string => `${HEAD}${matrixOf(readSections(sections))}\n${DETAILS}\n${sections}`;

/** The document of the table: a section for each fault. */
export const renderFaults = (sections: readonly (readonly Cell[])[]): string => renderDocument(sections.map(renderFault).join('\n'));
