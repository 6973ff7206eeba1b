/** A table of at most this many rows is rendered whole. */
export const WHOLE_ROWS = 200;

const STEP = 50;

/** The rows that are rendered: from `first` to before `end`. */
export interface RowWindow {
  first: number;
  end: number;
}

interface Scrolled {
  /** The rows of the whole table. */
  count: number;
  /** The height of a row, about. */
  rowPx: number;
  /** How far the table's first row is above the top of the window; negative: below it. */
  abovePx: number;
  windowPx: number;
}

/**
 * The rows that can be seen, and at least 50 more on each side, which are there before they are scrolled to. It
 * changes only every 50 rows. @returns at most three windows of rows, and never none
 */
export const rowWindow = ({ count, rowPx, abovePx, windowPx }: Scrolled): RowWindow => {
  const seen = Math.max(0, Math.min(Math.floor(abovePx / rowPx), count - 1));
  const first = Math.max(0, Math.floor(seen / STEP) * STEP - STEP);
  const end = Math.ceil((seen + Math.ceil(windowPx / rowPx)) / STEP) * STEP + STEP;
  return { first, end: Math.min(end, count) };
};
