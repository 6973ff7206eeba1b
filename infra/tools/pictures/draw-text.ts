// Sizes of a monospace font in pixels.
const FONT_SIZE = 13;
const CHARACTER = 7.8;
const LINE = 18;
const MARGIN = 16;

/** A piece of text at a place of a terminal. */
export interface Fragment {
  line: number;
  column: number;
  text: string;
  /** When it appears, in milliseconds after the picture is shown; without it, it is always there. */
  atMs?: number;
  /** A person has typed it. */
  typed?: boolean;
}

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
const lengthOf = (text: string): number => [...text].length;
const pixels = (value: number): number => Math.round(value * 10) / 10;

const drawFragment = ({ line, column, text, atMs, typed }: Fragment): string => {
  const x = pixels(MARGIN + column * CHARACTER);
  const y = MARGIN + (line + 0.75) * LINE;
  const fill = typed ? ' fill="#7ee787"' : '';
  const delay = atMs === undefined ? '' : ` style="animation-delay:${atMs}ms"`;
  return `<text x="${x}" y="${y}" textLength="${pixels(lengthOf(text) * CHARACTER)}"${fill}${delay} xml:space="preserve">${escaped(text)}</text>\n`;
};

// Readers who prefer less motion, and programs that draw no animations, see everything at once.
const ANIMATION = `<style>@media (prefers-reduced-motion: no-preference) { text { opacity: 0; animation: show 1ms forwards } }
@keyframes show { to { opacity: 1 } }</style>
`;

/**
 * Draws a terminal. Each fragment has a fixed width, so that it looks the same with any monospace font.
 * @returns an SVG document
 */
export const drawTerminal = (title: string, fragments: readonly Fragment[]): string => {
  const columns = Math.max(...fragments.map(({ column, text }) => column + lengthOf(text)));
  const lines = Math.max(...fragments.map(({ line }) => line)) + 1;
  const isAnimated = fragments.some(({ atMs }) => atMs !== undefined);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(columns * CHARACTER) + 2 * MARGIN}" height="${lines * LINE + 2 * MARGIN}">
<title>${escaped(title)}</title>
${isAnimated ? ANIMATION : ''}<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g fill="#e6edf3" font-size="${FONT_SIZE}" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace">
${fragments.map(drawFragment).join('')}</g>
</svg>
`;
};

/** Draws text as a terminal shows it. @returns an SVG document */
export const drawText = (title: string, text: string): string => {
  const lines = text.trimEnd().split('\n');
  return drawTerminal(
    title,
    lines.flatMap((line, i) => (line === '' ? [] : [{ line: i, column: 0, text: line }])),
  );
};
