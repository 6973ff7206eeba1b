export interface Series {
  name: string;
  /** One value for each time; null: unknown. */
  values: readonly (number | null)[];
  /** The exact values as the table has them, such as amounts of money. Default: `format`. */
  texts?: readonly string[];
}

export interface ChartProps {
  label: string;
  /** Unix seconds. */
  times: readonly number[];
  series: readonly Series[];
  /** How values are written on the axis and in the table. */
  format: (value: number) => string;
  /** How times are written in the table. */
  formatTime: (seconds: number) => string;
  /** The name of `times` if they are other numbers. */
  acrossTitle?: string;
  /** True: areas above one another, whose top is the sum. */
  isStacked?: boolean;
}

const COLOURS = 6;

/** The colour of a series; those after the sixth share one. */
export const colourOf = (i: number): string => `var(--series-${i < COLOURS ? i + 1 : 'rest'})`;
