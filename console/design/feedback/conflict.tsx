import { useState } from 'react';
import type { Difference } from '../../client/three-way.ts';
import { Button } from '../controls/button.tsx';
import { Segments } from '../controls/fields.tsx';
import { Facts, Row, Stack } from '../layout/layout.tsx';
import { Notice } from './failure.tsx';

interface ConflictProps<Name extends string> {
  differences: readonly Difference<Name>[];
  /** How people read a field. */
  labelOf: (name: Name) => string;
  /** Goes on with the stored version. @param takesStored the fields whose typed value is given up */
  onResolve: (takesStored: ReadonlySet<Name>) => void;
}

const textOf = (value: string | boolean): string => (typeof value === 'boolean' ? (value ? 'yes' : 'no') : value || '–');

/** The values that somebody else stored while a form was open, and a choice for each field that both have changed. */
export const Conflict = <Name extends string>({ differences, labelOf, onResolve }: ConflictProps<Name>) => {
  const [takesStored, setTakes] = useState<ReadonlySet<Name>>(new Set());
  const choose = (name: Name, choice: 'typed' | 'stored') => {
    const chosen = new Set(takesStored);
    if (choice === 'stored') chosen.add(name);
    else chosen.delete(name);
    setTakes(chosen);
  };
  return (
    <Notice tone="warn">
      <Stack>
        <p>Someone else changed this after you opened it. Nothing was saved, and your changes are still here.</p>
        {differences.map(({ name, opened, stored, typed, isConflict }) => (
          <Stack key={name}>
            <h3>{labelOf(name)}</h3>
            <Facts
              facts={[
                ['When you opened it', textOf(opened)],
                ['Saved now', textOf(stored)],
                ['Yours', isConflict ? textOf(typed) : undefined],
              ]}
            />
            {isConflict && (
              <Segments
                label={`Value to keep for ${labelOf(name)}`}
                value={takesStored.has(name) ? 'stored' : 'typed'}
                choices={[
                  ['typed', 'Keep your value'],
                  ['stored', 'Use the saved value'],
                ]}
                onChange={(choice) => choose(name, choice)}
              />
            )}
          </Stack>
        ))}
        <Row>
          <Button onClick={() => onResolve(takesStored)}>Continue with these values</Button>
        </Row>
      </Stack>
    </Notice>
  );
};
