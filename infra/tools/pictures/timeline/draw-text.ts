/** Sizes of a monospace font in pixels. */
const FONT_SIZE = 13;
const CHARACTER = 7.8;
const LINE = 18;
const MARGIN = 16;

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);

/**
 * Draws text as a terminal shows it. Each line has a fixed width, so that it looks the same with any monospace font.
 * @returns an SVG document
 */
export const drawText = (title: string, text: string): string => {
  const lines = text.trimEnd().split('\n');
  const width = Math.ceil(Math.max(...lines.map((line) => [...line].length)) * CHARACTER) + 2 * MARGIN;
  const rows = lines.map((line, i) => {
    const length = Math.round([...line].length * CHARACTER * 10) / 10;
    const y = MARGIN + (i + 0.75) * LINE;
    return line === '' ? '' : `<text x="${MARGIN}" y="${y}" textLength="${length}" xml:space="preserve">${escaped(line)}</text>\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${lines.length * LINE + 2 * MARGIN}">
<title>${escaped(title)}</title>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g fill="#e6edf3" font-size="${FONT_SIZE}" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace">
${rows.join('')}</g>
</svg>
`;
};
