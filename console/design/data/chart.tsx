import { later } from '../feedback/later.tsx';
import classes from './data.module.css';
import { type ChartProps, colourOf } from './series.ts';
import { Table } from './table.tsx';

const Plot = later(async () => (await import('./plot.tsx')).Plot);

/** Values over time, or over other numbers. All numbers are also in a table, which can be opened. */
export const Chart = (props: ChartProps) => {
  const { label, times, series, format, formatTime, acrossTitle = 'Time' } = props;
  return (
    <figure className={classes.chart} aria-label={label}>
      <ul className={classes.legend}>
        {series.map(({ name }, i) => (
          <li key={name}>
            <span className={classes.swatch} style={{ background: colourOf(i) }} />
            {name}
          </li>
        ))}
      </ul>
      <div className={classes['chart-canvas']} aria-hidden="true">
        <Plot {...props} />
      </div>
      <details>
        <summary>Show data</summary>
        <Table
          label={label}
          keyOf={(i) => String(i)}
          rows={times.map((_, i) => i)}
          columns={[
            { title: acrossTitle, isWhole: true, render: (i) => formatTime(times[i] ?? 0) },
            ...series.map(({ name, values, texts }) => ({
              title: name,
              isNumeric: true,
              render: (i: number) => {
                const value = values[i];
                if (texts) return texts[i];
                return value === null || value === undefined ? '–' : format(value);
              },
            })),
          ]}
        />
      </details>
    </figure>
  );
};
