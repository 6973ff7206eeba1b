import { type SynthesizedDashboard, shownIn, type Widget } from './read-dashboards.ts';

/** Pixels of a grid cell, and around the picture. */
const CELL = { width: 40, height: 30 };
const MARGIN = 16;
const HEADER = 36;
const GAP = 6;
const LINE = 15;
const GRID_LINES = 4;
const COLUMNS = 24;
/** CloudWatch's first colours. */
const COLOURS = ['#1f77b4', '#ff7f0e', '#2ca02c', '#d62728', '#9467bd', '#8c564b', '#e377c2', '#7f7f7f', '#bcbd22', '#17becf', '#393b79'];
/** Labels of alarms in a row. */
const ALARMS_A_ROW = 6;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const text = (x: number, y: number, content: string, attributes = ''): string =>
  `<text x="${x}" y="${y}"${attributes && ` ${attributes}`}>${escaped(content)}</text>`;

const square = (x: number, y: number, colour: string): string => `<rect x="${x}" y="${y - 8}" width="9" height="9" fill="${colour}"/>`;

/** An alarm's name without the hash of its logical id. */
const alarmName = (id: string): string => id.replace(/[0-9A-F]{8}$/, '');

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Places entries from left to right, in rows. */
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

/** The plot of a graph: axes, a grid, and a dashed line for what is promised. */
const drawGraph = (widget: Widget, { x, y, width, height }: Box): string[] => {
  const entries = shownIn(widget).map(({ label, isRight }, i) => ({
    label: isRight ? `${label} (right axis)` : label,
    colour: COLOURS[i % COLOURS.length] as string,
  }));
  const inner = { x: x + 10, y: y + 40, width: width - 20, height };
  const { lines, rows } = legend(entries, inner);
  const top = inner.y + rows * LINE;
  const bottom = y + height - 10;
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, i) => {
    const at = Math.round(bottom - ((bottom - top) * i) / GRID_LINES);
    return `<path d="M${inner.x} ${at}h${inner.width}" stroke="${i === 0 ? '#687078' : '#e3e5e7'}"/>`;
  });
  const promised = (widget.properties.annotations?.horizontal ?? []).flatMap(({ label, value }) => {
    const at = Math.round(top + (bottom - top) / 3);
    return [
      `<path d="M${inner.x} ${at}h${inner.width}" stroke="#d13212" stroke-dasharray="5 4"/>`,
      text(inner.x + inner.width, at - 4, `${label}: ${value}`, 'text-anchor="end" fill="#d13212"'),
    ];
  });
  return [...lines, ...grid, ...promised];
};

const drawAlarms = ({ properties: { alarms = [] } }: Widget, { x, y, width }: Box): string[] => {
  const column = (width - 20) / ALARMS_A_ROW;
  return alarms.flatMap((alarm, i) => {
    const left = x + 10 + (i % ALARMS_A_ROW) * column;
    const line = y + 38 + Math.floor(i / ALARMS_A_ROW) * LINE;
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
 * Draws a dashboard as CloudWatch lays it out: its widgets, their titles, and what they show. Without values, because
 * those come from a deployment.
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
    ...widgets.flatMap(drawWidget),
    '</svg>',
    '',
  ].join('\n');
};
