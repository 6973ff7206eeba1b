import { type ReactNode, useState } from 'react';
import { type ApiFailure, isChangedMeanwhile } from '../../client/api-failure.ts';
import { type Draft, differencesOf, mergeDrafts } from '../../client/three-way.ts';
import { Conflict } from '../feedback/conflict.tsx';
import { Notice } from '../feedback/failure.tsx';
import { Form } from './form.tsx';

interface VersionedFormProps<Thing, D extends Draft> {
  /** The thing to edit, as it was when the form opened. */
  thing: Thing;
  /** The fields of a thing as the form edits them. */
  draftOf: (thing: Thing) => D;
  labels: Readonly<Record<keyof D & string, string>>;
  /** Reads the thing as it is stored now. */
  read: () => Promise<Thing>;
  /** Stores what was typed. @param base the version that it is a change of */
  save: (draft: D, base: Thing) => Promise<unknown>;
  submitLabel: string;
  canSubmit?: (draft: D, base: Thing) => boolean;
  onCancel?: () => void;
  children: (draft: D, change: (changes: Partial<D>) => void) => ReactNode;
}

/**
 * A form for a thing that others can change at the same time. If somebody has, nothing is saved: the form shows the
 * differences, and goes on with the stored version when the user has chosen.
 */
export const VersionedForm = <Thing, D extends Draft>(props: VersionedFormProps<Thing, D>) => {
  const { draftOf, labels, read, save, submitLabel, canSubmit, onCancel, children } = props;
  const [base, setBase] = useState(props.thing);
  const [stored, setStored] = useState<Thing>();
  const [draft, setDraft] = useState(() => draftOf(props.thing));

  const submit = async () => {
    try {
      await save(draft, base);
    } catch (error) {
      if (isChangedMeanwhile(error)) setStored(await read());
      throw error;
    }
  };
  const resolve = (current: Thing, takesStored: ReadonlySet<string>) => {
    setDraft(mergeDrafts(draftOf(base), draftOf(current), draft, takesStored));
    setBase(current);
    setStored(undefined);
  };
  const explain = (failure: ApiFailure): ReactNode => {
    if (!isChangedMeanwhile(failure)) return undefined;
    if (stored === undefined) return <Notice>Check the values above, then save again.</Notice>;
    return (
      <Conflict
        differences={differencesOf(draftOf(base), draftOf(stored), draft)}
        labelOf={(name) => labels[name]}
        onResolve={(takesStored) => resolve(stored, takesStored)}
      />
    );
  };
  return (
    <Form
      submitLabel={submitLabel}
      canSubmit={stored === undefined && (canSubmit?.(draft, base) ?? true)}
      onCancel={onCancel}
      onSubmit={submit}
      explain={explain}
    >
      {children(draft, (changes) => setDraft((was) => ({ ...was, ...changes })))}
    </Form>
  );
};
