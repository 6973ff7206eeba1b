import { type ComponentProps, type ReactNode, useId } from 'react';
import type { Choice } from './choice.ts';
import classes from './controls.module.css';

interface FieldFacts {
  label: string;
  hint?: ReactNode;
  /** Why the value can't be used. */
  fault?: string | undefined;
  /** True: only screen readers get the label, because the place says what it is. */
  isLabelHidden?: boolean;
}

interface Ids {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

const Field = ({ label, hint, fault, isLabelHidden = false, children }: FieldFacts & { children: (ids: Ids) => ReactNode }) => {
  const id = useId();
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div className={classes.field}>
      <label className={isLabelHidden ? 'visually-hidden' : classes.label} htmlFor={id}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': fault !== undefined })}
      {hint && (
        <div className={classes.hint} id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {fault && (
        <div className={classes.fault} id={`${id}-fault`}>
          {fault}
        </div>
      )}
    </div>
  );
};

interface TextFacts extends FieldFacts {
  value: string;
  onChange: (value: string) => void;
  /** True: ids, codes and other text that is read letter by letter. */
  isCode?: boolean;
}

type OwnProps = 'className' | 'id' | 'onChange' | 'value';

// React only focuses what is visible. The browser focuses it when a dialog around it opens.
const focusInDialog = (element: HTMLElement | null): void => element?.setAttribute('autofocus', '');

// Names, and what is wrong, are of the field; all else is of its element.
const parted = <Props extends TextFacts>({
  label,
  hint,
  fault,
  isLabelHidden = false,
  value,
  onChange,
  isCode = false,
  autoFocus = false,
  ...rest
}: Props & { autoFocus?: boolean | undefined }) => ({
  field: { label, hint, fault, isLabelHidden },
  element: {
    ...rest,
    ...(autoFocus && { autoFocus, ref: focusInDialog }),
    value,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value),
    className: `${classes.input} ${isCode ? classes['is-code'] : ''}`,
  },
});

// A number that is pasted often has blanks around it.
const isOfNumber = (inputMode: string | undefined): boolean => inputMode === 'decimal' || inputMode === 'numeric';

// Without a bound, browsers take six digits for a year, and the API takes four.
const LAST_TIMES: Readonly<Record<string, string>> = { date: '9999-12-31', 'datetime-local': '9999-12-31T23:59', month: '9999-12' };

/** A line of text. */
export const TextField = ({ onChange, ...props }: TextFacts & Omit<ComponentProps<'input'>, OwnProps>) => {
  const { field, element } = parted({ ...props, onChange: (text) => onChange(isOfNumber(props.inputMode) ? text.trim() : text) });
  return <Field {...field}>{(ids) => <input type="text" max={LAST_TIMES[element.type ?? '']} {...element} {...ids} />}</Field>;
};

/** Several lines of text. */
export const TextArea = (props: TextFacts & Omit<ComponentProps<'textarea'>, OwnProps>) => {
  const { field, element } = parted(props);
  return <Field {...field}>{(ids) => <textarea {...element} {...ids} />}</Field>;
};

interface SelectFieldProps<Value extends string> extends FieldFacts {
  value: Value;
  onChange: (value: Value) => void;
  choices: readonly Choice<Value>[];
  disabled?: boolean;
}

/** One of several values. */
export const SelectField = <Value extends string>({
  label,
  hint,
  fault,
  isLabelHidden,
  value,
  onChange,
  choices,
  disabled,
}: SelectFieldProps<Value>) => (
  <Field label={label} hint={hint} fault={fault} {...(isLabelHidden && { isLabelHidden })}>
    {(ids) => (
      <select
        {...ids}
        value={value}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
        className={classes.input}
      >
        {choices.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
);

interface CheckFieldProps {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  /** True: only screen readers get the label, because the place says what it is. */
  isLabelHidden?: boolean;
}

/** Yes or no. */
export const CheckField = ({ label, hint, checked, onChange, disabled, isLabelHidden = false }: CheckFieldProps) => {
  const id = useId();
  return (
    <div className={classes.check}>
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <div>
        <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
          {label}
        </label>
        {hint && (
          <div className={classes.hint} id={`${id}-hint`}>
            {hint}
          </div>
        )}
      </div>
    </div>
  );
};

/** Yes or no for several things that belong together. */
export const CheckGroup = ({ label, children }: { label: string; children: ReactNode }) => (
  <fieldset className={classes['check-group']}>
    <legend className={classes.label}>{label}</legend>
    {children}
  </fieldset>
);

interface SegmentsProps<Value extends string> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  choices: readonly Choice<Value>[];
}

/** One of a few values that are all visible, such as a range of time. */
export const Segments = <Value extends string>({ label, value, onChange, choices }: SegmentsProps<Value>) => {
  const name = useId();
  return (
    <fieldset className={classes.segments} style={{ margin: 0, padding: 0 }}>
      <legend className="visually-hidden">{label}</legend>
      {choices.map(([choice, text]) => (
        <label key={choice} className={classes.segment}>
          <input type="radio" name={name} value={choice} checked={choice === value} onChange={() => onChange(choice)} />
          {text}
        </label>
      ))}
    </fieldset>
  );
};
