import classes from './controls.module.css';

interface FileButtonProps {
  label: string;
  /** Endings of names, such as `.png`. */
  accept: readonly string[];
  onChoose: (files: readonly File[]) => void;
}

/** Chooses files of the reader's computer. */
export const FileButton = ({ label, accept, onChoose }: FileButtonProps) => (
  <label className={`${classes.button} ${classes['file-button']}`}>
    {label}
    <input
      type="file"
      multiple
      accept={accept.join(',')}
      className="visually-hidden"
      onChange={({ currentTarget }) => {
        onChoose([...(currentTarget.files ?? [])]);
        // The same file can be chosen again.
        currentTarget.value = '';
      }}
    />
  </label>
);
