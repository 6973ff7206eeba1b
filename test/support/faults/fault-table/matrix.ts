interface Row {
  request: string;
  mode: string;
  reply: string;
  outcome: string;
  charge: string;
}

interface Section {
  fault: string;
  rows: Row[];
}

const COLUMNS: readonly { title: string; has: (row: Row) => boolean }[] = [
  { title: 'Whole answer', has: ({ request, mode }) => isAnswer(request) && mode === 'whole' },
  { title: 'Stream', has: ({ request, mode }) => isAnswer(request) && mode === 'stream' },
  { title: 'Embeddings, rerank', has: ({ request }) => /^(embeddings|rerank)/.test(request) },
  { title: 'Tokens', has: ({ request }) => /^((de)?tokenize|count tokens)/.test(request) },
  { title: 'Models', has: ({ request }) => request === 'models' },
  { title: 'Log in, refresh', has: ({ request }) => /^(log in|refresh)/.test(request) },
  { title: 'Control plane', has: ({ request }) => /\(control\)$/.test(request) && !/^(log in|refresh)/.test(request) },
];

const isAnswer = (request: string): boolean => /^(chat completions|completions|responses|messages)/.test(request);

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The tables of the document, by fault. @param document with a section of the second level for each fault */
export const readSections = (document: string): Section[] =>
  document
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [fault = '', ...lines] = section.split('\n');
      const [, , ...rows] = lines.filter((line) => line.startsWith('|'));
      return {
        fault,
        rows: rows.map((line) => {
          const [request = '', mode = '', reply = '', , , outcome = '', charge = ''] = cellsOf(line);
          return { request, mode, reply, outcome, charge };
        }),
      };
    });

const statusOf = ({ reply }: Row): string => {
  const [status = ''] = reply.split(' ');
  if (status === '201') return '200';
  return status === '200' && reply.includes('`') ? '200, error' : status;
};

const chargeOf = ({ charge }: Row, usual: string | undefined): string => {
  if (charge === '-' || (charge === '0' && usual === '0')) return '';
  if (charge === usual) return ', full';
  return charge === '0' ? ', free' : ', part';
};

const nameOf = (request: string): string => request.replace(' (control)', '');

// The value of most requests of a column comes first, then the others.
const summaryOf = (values: readonly { request: string; value: string }[]): string => {
  const byValue = Map.groupBy(values, ({ value }) => value);
  const [most, ...others] = [...byValue].sort(([, a], [, b]) => b.length - a.length);
  if (!most) return '-';
  return [most[0], ...others.map(([value, of]) => `${of.map(({ request }) => nameOf(request)).join(' and ')}: ${value}`)].join('; ');
};

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

/** A table with a row for each fault: status and charge of each kind of request. */
export const matrixOf = (sections: readonly Section[]): string => {
  const usual = new Map(sections[0]?.rows.map(({ request, mode, charge }) => [`${request} ${mode}`, charge]));
  const rows = sections.map(({ fault, rows: ofFault }) => [
    `[${fault}](#${anchorOf(fault)})`,
    ...COLUMNS.map(({ has }) =>
      summaryOf(
        ofFault
          .filter(has)
          .map((row) => ({ request: row.request, value: `${statusOf(row)}${chargeOf(row, usual.get(`${row.request} ${row.mode}`))}` })),
      ),
    ),
  ]);
  const table = [['Fault', ...COLUMNS.map(({ title }) => title)], ...rows];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = table.map((row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  return [lines[0], `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...lines.slice(1)].join('\n');
};
