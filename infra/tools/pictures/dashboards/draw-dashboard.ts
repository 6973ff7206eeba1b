import { type SynthesizedDashboard, shownIn, type Widget } from './read-dashboards.ts';
import { POINTS, sampleValues } from './sample-data.ts';

// In pixels.
const CELL = { width: 40, height: 30 };
const MARGIN = 16;
const HEADER = 36;
const GAP = 6;
const LINE = 15;
const ALARM_LINE = 14;
const GRID_LINES = 4;
// The values are of six hours.
const HOURS = 6;
const FIRST_HOUR = 9;
const COLUMNS = 24;
// CloudWatch's first colours.
const COLOURS = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#7f7f7f', '#bcbd22', '#17becf', '#393b79'];
const ALARMS_A_ROW = 6;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const text = (x: number, y: number, content: string, attributes = ''): string =>
  `<text x="${x}" y="${y}"${attributes && ` ${attributes}`}>${escaped(content)}</text>`;

const square = (x: number, y: number, colour: string): string => `<rect x="${x}" y="${y - 8}" width="9" height="9" fill="${colour}"/>`;

// Without the hash of its logical id.
const alarmName = (id: string): string => id.replace(/[0-9A-F]{8}$/, '');

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const legend = (entries: readonly { label: string; colour: string }[], { x, y, width }: Box): { lines: string[]; rows: number } => {
  const lines: string[] = [];
  let left = 0;
  let row = 0;
  for (const { label, colour } of entries) {
    const needed = 14 + label.length * 6 + 12;
    if (left > 0 && left + needed > width) {
      left = 0;
      row += 1;
    }
    lines.push(square(x + left, y + row * LINE, colour), text(x + left + 13, y + row * LINE, label));
    left += needed;
  }
  return { lines, rows: row + 1 };
};

const right = 'text-anchor="end"';
const grey = 'fill="#687078" font-size="9"';

const roundUp = (value: number): number => {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 10].find((factor) => factor * power >= value) ?? 10) * power;
};

const shortNumber = (value: number): string =>
  value >= 1_000_000 ? `${value / 1_000_000}M` : value >= 1_000 ? `${value / 1_000}k` : String(Number(value.toPrecision(3)));

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

interface Line {
  colour: string;
  isRight: boolean;
  values: number[];
}

// The sums of each line and those before it.
const stackedTops = (lines: readonly Line[]): number[][] =>
  lines.map((_, i) => Array.from({ length: POINTS }, (__, point) => sumOf(lines.slice(0, i + 1).map(({ values }) => values[point] ?? 0))));

const drawGraph = (widget: Widget, { x, y, width, height }: Box): string[] => {
  const { title, stacked = false, annotations } = widget.properties;
  const shown = shownIn(widget).map((series, i) => ({ ...series, colour: COLOURS[i % COLOURS.length] as string }));
  const entries = shown.map(({ label, isRight, colour }) => ({ label: isRight ? `${label} (right axis)` : label, colour }));
  const { lines: named, rows } = legend(entries, { x: x + 10, y: y + 40, width: width - 20, height });
  const hasRight = shown.some(({ isRight }) => isRight);
  const plot = { left: x + 42, right: x + width - (hasRight ? 36 : 12), top: y + 40 + rows * LINE, bottom: y + height - 22 };
  const lines: Line[] = shown.map(({ label, isRight, colour }) => ({ colour, isRight, values: sampleValues(title, label) }));
  const tops = stacked ? stackedTops(lines) : lines.map(({ values }) => values);
  const promises = annotations?.horizontal ?? [];
  const maximumOf = (side: boolean): number =>
    roundUp(
      Math.max(...tops.flatMap((top, i) => (lines[i]?.isRight === side ? top : [])), ...(side ? [] : promises.map(({ value }) => value))),
    );
  const maximum = { left: maximumOf(false), right: hasRight ? maximumOf(true) : 1 };
  const xOf = (point: number): string => (plot.left + ((plot.right - plot.left) * point) / (POINTS - 1)).toFixed(1);
  const yOf = (value: number, isRight = false): string =>
    (plot.bottom - ((plot.bottom - plot.top) * value) / (isRight ? maximum.right : maximum.left)).toFixed(1);
  const pathOf = (values: readonly number[], isRight: boolean): string =>
    values.map((value, point) => `${xOf(point)},${yOf(value, isRight)}`).join(' ');
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, i) => {
    const at = Math.round(plot.bottom - ((plot.bottom - plot.top) * i) / GRID_LINES);
    return [
      `<path d="M${plot.left} ${at}H${plot.right}" stroke="${i === 0 ? '#687078' : '#e3e5e7'}"/>`,
      text(plot.left - 4, at + 3, shortNumber((maximum.left * i) / GRID_LINES), `${right} ${grey}`),
      ...(hasRight ? [text(plot.right + 4, at + 3, shortNumber((maximum.right * i) / GRID_LINES), grey)] : []),
    ].join('');
  });
  const hours = Array.from({ length: HOURS + 1 }, (_, hour) =>
    text(
      Number(xOf((hour * (POINTS - 1)) / HOURS)),
      plot.bottom + 13,
      `${FIRST_HOUR + hour}:00`,
      `text-anchor="${hour === HOURS ? 'end' : 'middle'}" ${grey}`,
    ),
  );
  const areas = lines.map(({ colour, isRight, values }, i) => {
    if (!stacked) return `<polyline points="${pathOf(values, isRight)}" fill="none" stroke="${colour}" stroke-width="1.5"/>`;
    const below = (tops[i - 1] ?? values.map(() => 0)).map((value, point) => `${xOf(point)},${yOf(value)}`).reverse();
    return `<polygon points="${pathOf(tops[i] ?? [], false)} ${below.join(' ')}" fill="${colour}"/>`;
  });
  const promised = promises.flatMap(({ label, value }) => [
    `<path d="M${plot.left} ${yOf(value)}H${plot.right}" stroke="#d13212" stroke-dasharray="5 4"/>`,
    text(plot.right, Number(yOf(value)) - 4, `${label}: ${value}`, `${right} fill="#d13212"`),
  ]);
  return [...named, ...grid, ...hours, ...areas, ...promised];
};

const drawAlarms = ({ properties: { alarms = [] } }: Widget, { x, y, width }: Box): string[] => {
  const column = (width - 20) / ALARMS_A_ROW;
  return alarms.flatMap((alarm, i) => {
    const left = x + 10 + (i % ALARMS_A_ROW) * column;
    const line = y + 36 + Math.floor(i / ALARMS_A_ROW) * ALARM_LINE;
    return [square(left, line, '#1d8102'), text(left + 13, line, alarmName(alarm), 'font-size="9"')];
  });
};

const boxOf = ({ x, y, width, height }: Box): Box => ({
  x: MARGIN + x * CELL.width + GAP / 2,
  y: HEADER + y * CELL.height + GAP / 2,
  width: width * CELL.width - GAP,
  height: height * CELL.height - GAP,
});

const drawWidget = (widget: Widget): string[] => {
  const box = boxOf(widget);
  return [
    `<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="4" fill="#fff" stroke="#d5dbdb"/>`,
    text(box.x + 10, box.y + 20, widget.properties.title, 'font-size="13" font-weight="bold"'),
    ...(widget.type === 'alarm' ? drawAlarms(widget, box) : drawGraph(widget, box)),
  ];
};

/**
 * Draws a dashboard as CloudWatch lays it out, with sample values, because real ones come from a deployment.
 * @returns an SVG document
 */
export const drawDashboard = ({ name, widgets }: SynthesizedDashboard): string => {
  const width = 2 * MARGIN + COLUMNS * CELL.width;
  const height = HEADER + MARGIN + Math.max(...widgets.map(({ y, height: rows }) => y + rows)) * CELL.height;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="Helvetica, Arial, sans-serif" font-size="11" fill="#16191f">`,
    `<title>The dashboard ${escaped(name)}</title>`,
    `<rect width="${width}" height="${height}" fill="#f2f3f3"/>`,
    text(MARGIN + GAP / 2, 25, name, 'font-size="17" font-weight="bold"'),
    text(width - MARGIN - GAP / 2, 25, 'sample data', `${right} fill="#687078"`),
    ...widgets.flatMap(drawWidget),
    '</svg>',
    '',
  ].join('\n');
};
