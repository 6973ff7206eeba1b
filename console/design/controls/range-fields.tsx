import { RANGE_LABELS, type RangeName } from '../format/ranges.ts';
import { SelectField } from './fields.tsx';
import { FilterField } from './filter-field.tsx';

interface RangeFieldsProps {
  names: readonly RangeName[];
  name: RangeName;
  from: string;
  to: string;
  onChange: (changes: { range?: string; from?: string; to?: string }) => void;
  /** True: days only. */
  isByDay?: boolean;
}

/** A range of time that ends now, or one with a beginning and an end. */
export const RangeFields = ({ names, name, from, to, onChange, isByDay = false }: RangeFieldsProps) => {
  const type = isByDay ? 'date' : 'datetime-local';
  return (
    <>
      <SelectField
        label="Time"
        value={name}
        choices={names.map((one) => [one, RANGE_LABELS[one]] as const)}
        onChange={(range) => onChange(range === 'custom' ? { range } : { range, from: '', to: '' })}
      />
      {name === 'custom' && (
        <>
          <FilterField
            label={isByDay ? 'First day (UTC)' : 'From (UTC)'}
            type={type}
            value={from}
            onChange={(text) => onChange({ from: text })}
          />
          <FilterField
            label={isByDay ? 'Last day (UTC)' : 'Until (UTC)'}
            type={type}
            value={to}
            onChange={(text) => onChange({ to: text })}
          />
        </>
      )}
    </>
  );
};
