import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import { DAY_S } from '../format/units.ts';
import classes from './data.module.css';
import { type ChartProps, colourOf } from './series.ts';

const HEIGHT = 220;
// Between two labels: days, since each value is of one.
const LABEL_DAYS = [1, 2, 4, 7, 14, 28, 56];

// The canvas would have the days of the reader's zone. Those of usage and bills are of UTC.
const utcDate = (seconds: number): Date => UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC');

// The canvas knows no variables of the style sheet.
const resolved = (element: HTMLElement, colour: string): string => {
  const probe = document.createElement('span');
  probe.style.color = colour;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

const stacked = (series: ChartProps['series']): (number | null)[][] => {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, i) => {
      sums[i] = (sums[i] ?? 0) + (value ?? 0);
      return sums[i] ?? 0;
    }),
  );
};

// A number that changes with the theme, whoever chose it.
const useTheme = (): number => {
  const [theme, setTheme] = useState(0);
  useEffect(() => {
    const changed = () => setTheme((number) => number + 1);
    const system = matchMedia('(prefers-color-scheme: dark)');
    const chosen = new MutationObserver(changed);
    system.addEventListener('change', changed);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', changed);
      chosen.disconnect();
    };
  }, []);
  return theme;
};

/** Draws a chart on a canvas. */
export const Plot = ({ times, series, format, acrossTitle, isStacked = false }: ChartProps) => {
  const place = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is in the colours that it resolves
  useEffect(() => {
    const { current: element } = place;
    if (!element) return;
    const values = isStacked ? stacked(series) : series.map((one) => [...one.values]);
    const isOfDays = acrossTitle === undefined;
    // The highest sum is drawn first, so that those below it stay visible.
    const order = isStacked ? series.map((_, i) => series.length - 1 - i) : series.map((_, i) => i);
    const axis = {
      stroke: resolved(element, 'var(--text-soft)'),
      grid: { stroke: resolved(element, 'var(--border)'), width: 1 },
      ticks: { show: false },
    };
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        scales: { x: { time: isOfDays } },
        tzDate: utcDate,
        cursor: { drag: { x: false, y: false } },
        axes: [
          { ...axis, ...(isOfDays && { incrs: LABEL_DAYS.map((days) => days * DAY_S) }) },
          { ...axis, size: 64, values: (_, splits) => splits.map(format) },
        ],
        series: [
          {},
          ...order.map((i) => {
            const stroke = resolved(element, colourOf(i));
            return {
              label: series[i]?.name ?? '',
              stroke,
              width: 1.5,
              ...(isStacked && { fill: stroke }),
              points: { show: times.length === 1 },
            };
          }),
        ],
      },
      [[...times], ...order.map((i) => values[i] ?? [])],
      element,
    );
    const resizing = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resizing.observe(element);
    return () => {
      resizing.disconnect();
      plot.destroy();
    };
  }, [times, series, format, acrossTitle, isStacked, theme]);
  return <div ref={place} className={classes.uplot} />;
};
