import { useEffect, useId, useState } from 'react';
import type { Choice } from './choice.ts';
import { TextField } from './fields.tsx';

interface FilterFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  type?: 'text' | 'number' | 'datetime-local' | 'date' | 'month';
  /** Values that can be chosen instead of typed, and what people read for them. */
  suggestions?: readonly Choice[];
  isCode?: boolean;
  /** Why the value can't be used. */
  fault?: string | undefined;
}

/**
 * A filter that is typed. It applies when it is complete: at Enter, when the field is left, or when a value is chosen.
 */
export const FilterField = ({ value, onChange, suggestions = [], ...rest }: FilterFieldProps) => {
  const [draft, setDraft] = useState(value);
  const id = useId();
  // The browser's back button changes the value, too.
  useEffect(() => setDraft(value), [value]);
  const apply = (text: string) => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <>
      <TextField
        {...rest}
        value={draft}
        onChange={(text) => {
          setDraft(text);
          if (suggestions.some(([suggested]) => suggested === text)) apply(text);
        }}
        onBlur={() => apply(draft)}
        onKeyDown={({ key }) => key === 'Enter' && apply(draft)}
        autoComplete="off"
        list={suggestions.length > 0 ? id : undefined}
      />
      {suggestions.length > 0 && (
        <datalist id={id}>
          {suggestions.map(([suggested, text]) => (
            <option key={suggested} value={suggested}>
              {text}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
};
