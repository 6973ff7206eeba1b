import type { ReactNode } from 'react';
import classes from './layout.module.css';

interface Step {
  title: string;
  /** Why it is taken, or how. */
  note: ReactNode;
  isDone: boolean;
  /** Leads to where it is taken. */
  action: ReactNode;
}

/** Things to do in their order. Only those that are not done yet have their notes and actions. */
export const Steps = ({ steps }: { steps: readonly Step[] }) => (
  <ol className={classes.steps}>
    {steps.map(({ title, note, isDone, action }, i) => (
      <li key={title} className={classes.step} data-done={isDone}>
        <span className={classes['step-mark']} aria-hidden="true">
          {!isDone && i + 1}
        </span>
        <div className={classes['step-text']}>
          <h3>
            {title}
            {isDone && <span className="visually-hidden">: done</span>}
          </h3>
          {!isDone && <p>{note}</p>}
        </div>
        {!isDone && action}
      </li>
    ))}
  </ol>
);
