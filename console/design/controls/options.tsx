import { type ReactNode, useId } from 'react';
import classes from './controls.module.css';

interface Option {
  value: string;
  title: ReactNode;
  note?: ReactNode;
  /** At the end of its line, such as a price. */
  figure?: ReactNode;
}

interface OptionsProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly Option[];
  /** Why the value can't be used. */
  fault?: string | undefined;
}

/** One of several things that need more than a word to be told apart. */
export const Options = ({ label, value, onChange, options, fault }: OptionsProps) => {
  const name = useId();
  return (
    <fieldset className={classes.choice} aria-describedby={fault && `${name}-fault`}>
      <legend className={classes.label}>{label}</legend>
      <div className={classes.options}>
        {options.map((option) => (
          <label key={option.value} className={classes.option}>
            <input type="radio" name={name} value={option.value} checked={option.value === value} onChange={() => onChange(option.value)} />
            <span>
              <span className={classes.label}>{option.title}</span>
              {option.note && <span className={classes.hint}> {option.note}</span>}
            </span>
            <span className={classes.figure}>{option.figure}</span>
          </label>
        ))}
      </div>
      {fault && (
        <div className={classes.fault} id={`${name}-fault`}>
          {fault}
        </div>
      )}
    </fieldset>
  );
};
